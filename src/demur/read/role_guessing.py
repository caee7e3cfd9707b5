"""Guesses which column of a table plays which role, by the names and the values of the columns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from demur.errors import UserError, shown
from demur.facts.column_names import Likeness, confidence_likeness, has_cluster_word, is_of_cluster, meaning
from demur.facts.instruments import BY_ITEMS, instrument_with
from demur.facts.losses import WHICH_LOSS
from demur.facts.signals import SIGNALS
from demur.options import Answer
from demur.read.paths import with_paths
from demur.read.role_candidates import CONFIDENCES, INDEXES, NAMES, Candidate, Given, Guess, Question, agree, plain_name
from demur.read.table_options import ROLES, SOURCES, check_mapped
from demur.read.tables import NO_ROWS, opened_table
from demur.read.units_file import MEMBERS, NO_SIGNAL, check_some_succeeded

_ROWS = 5000
_RANGES = (1, 5, 10, 100)
_JUDGED = ("loss", "score")
_MEASURED = {"loss": "how wrong each answer is", "score": "how good each answer is"}
_GRADED = ("graded", "scored")
_CLUSTERED = ("cluster", "id", "item")
_ALONE = "; if no two rows share anything, declare that instead"
_STATED = 0  # clearer than any name
_IN_OBJECTS = "; it may be a path into objects, which demur fields lists"
_ANSWERS = {"truth": "what is right", "prediction": "what the system answered"}


def guess(table: str | Path | object, given: Given) -> Guess:
    """Guess which column plays which role, from the names and the first rows of a table."""
    with opened_table(table) as (plain, _):
        opened = with_paths(plain, given.columns.values())
        rows = [row for _, row in islice(opened.rows(opened.header), _ROWS)]
        names = dict.fromkeys([*opened.header, *(name for row in rows for name in row)])
        columns = {name: Candidate.of(name, [row.get(name) for row in rows], opened) for name in names}
        fixed = opened.units is not None
        if not rows:
            raise UserError(NO_ROWS)
        if opened.units is not None:
            check_some_succeeded(opened.units)
        else:
            check_mapped(columns, given.columns)
    guesser = _Guesser(columns, given, fixed=fixed)
    if fixed:
        guesser.roles = {member: member for member in MEMBERS}
    else:
        guesser.settle_roles()
    guesser.settle_confidence()
    if fixed and Answer("confidence", "COLUMN") in [answer for asked in guesser.questions for answer in asked.answers]:
        raise UserError(NO_SIGNAL).in_file(str(table))
    return Guess(guesser.taken, guesser.loss, guesser.confidence, tuple(guesser.questions))


class _Guesser:
    """Guesses one thing after another; after a question it goes on with the likeliest answer."""

    def __init__(self, columns: Mapping[str, Candidate], given: Given, *, fixed: bool) -> None:
        self.columns, self.given, self.fixed = columns, given, fixed
        mapped = given.columns
        self.roles = {role: role for role in ROLES if role in columns and role not in mapped.values()} | dict(mapped)
        self.taken: dict[str, str] = {}
        self.questions: list[Question] = []
        self.loss: str | None = None
        self.confidence: str | None = None

    def settle_roles(self) -> None:
        """Guess the system, the source of losses, the cluster, the item, and the loss or the range of scores."""
        models = [] if "system" in self.roles else self._named("system")
        # Several files with one model each are named after their files, so that the same model may be in two.
        models = [column for column in models if self.given.alone or len({*column.filled}) > 1]
        if models:
            self._take("system", models[0])
        self._take_states("abstained", "status", "success")
        source = self._settle_source()
        unused = {role for other, roles in SOURCES.items() if other != source for role in roles}
        self.roles = {role: name for role, name in self.roles.items() if role not in unused}
        self._settle_abstained()
        self._settle_cluster()
        self._settle_item()
        if "item" in self.roles:
            self._take_states("repeat")
        if source == "truth":
            self._settle_loss()
        elif source == "score" and self.given.score_range is None:
            self._settle_range()

    def _free(self) -> list[Candidate]:
        used = {*self.roles.values()}
        return [column for name, column in self.columns.items() if name not in used]

    def _named(self, role: str) -> list[Candidate]:
        columns = [column for column in self._free() if column.plays(role)]
        return sorted(columns, key=lambda column: column.rank_among(NAMES.get(role, ())))

    def _take(self, role: str, column: Candidate) -> None:
        self.roles[role] = self.taken[role] = column.name

    def _ask(self, about: str, *answers: Answer, role: str = "", column: Candidate | None = None) -> None:
        self.questions.append(Question(about, answers))
        if column is not None:
            self.roles[role] = column.name

    def _choose(self, role: str, what: str, columns: Sequence[Candidate], more: str = "") -> None:
        about = f"{what} ({role}): {_listed(columns)}{more}"
        self._ask(about, Answer("columns", columns[0].name, role), role=role, column=columns[0])

    def _take_states(self, *roles: str) -> None:
        for role in roles:
            named = [] if role in self.roles else self._named(role)
            if named:
                self._take(role, named[0])

    # how wrong the answers are

    def _settle_source(self) -> str:
        stated = [source for source, roles in SOURCES.items() if any(role in self.given.columns for role in roles)]
        if stated[:1] in (["loss"], ["score"]):
            return stated[0]
        judged = [] if stated else self._judgments(Candidate.plays)
        if judged:
            return self._settle_judgment(judged)
        pair = self._pair()
        if not stated and not all(pair) and (hinted := self._judgments(Candidate.may_play, flags=any(pair))):
            return self._ask_judgment(hinted)
        return "truth" if self._settle_answers() else self._ask_source()

    def _judgments(
        self, plays: Callable[[Candidate, str], bool], *, flags: bool = False
    ) -> list[tuple[str, Candidate]]:
        """The columns of losses and of scores, each with its role: those of 0 and 1 first."""
        exact = [(role, self.columns[role]) for role in _JUDGED if role in self.roles and plays is Candidate.plays]
        named = [(role, column) for role in _JUDGED for column in self._free() if plays(column, role)]
        named.sort(key=lambda pair: pair[1].rank_among(NAMES[pair[0]]))
        return sorted(
            [pair for pair in (*exact, *named) if pair[1].is_flag or not flags], key=lambda pair: not pair[1].is_flag
        )

    def _pair(self) -> list[Candidate | None]:
        return [
            self.columns.get(self.roles[role]) if role in self.roles else next(iter(self._named(role)), None)
            for role in _ANSWERS
        ]

    def _settle_judgment(self, judged: list[tuple[str, Candidate]]) -> str:
        """Take the judgment that counts, or ask: others may say something else, and answers may too."""
        role, column = judged[0]
        others = [other for other in judged[1:] if not agree(judged[0], other)]
        truth, prediction = self._pair()
        is_exact = truth and prediction and (truth.name, prediction.name) == SOURCES["truth"]
        if truth and prediction and (is_exact or (role, column.name) != ("loss", "loss")):
            # A 1 in `error` may also say that the request failed, so that it counts only where the answers agree.
            counts = column.is_flag if role == "score" else column.name == role
            texts = counts and (truth.is_text or prediction.is_text)
            rows = zip(column.values, truth.values, prediction.values, strict=True)
            equal = [None if own is None else right == answer for own, right, answer in rows]
            if not texts and not agree(judged[0], ("score", Candidate("", equal))):
                return self._ask_which(role, column, truth, prediction)
        if others:
            return self._ask_judgment([judged[0], *others])
        rivals = [other for other, roles in SOURCES.items() if other != role and {*roles} <= self.roles.keys()]
        if column.name != role or rivals:
            self._take(role, column)
        return role

    def _ask_judgment(self, judged: Sequence[tuple[str, Candidate]]) -> str:
        listed = ", or ".join(f"{_MEASURED[role]} ({role}): {shown(column.name)}" for role, column in judged)
        role, column = judged[0]
        self._ask(listed, Answer("columns", column.name, role), role=role, column=column)
        return role

    def _ask_which(self, role: str, judged: Candidate, truth: Candidate, prediction: Candidate) -> str:
        """Ask whether a judgment or the answers give the loss; the source that is the likeliest answer."""
        both = f"{shown(truth.name)} and {shown(prediction.name)}"
        about = f"how wrong an answer is: told by {shown(judged.name)}, or by {both}"
        if (judged.is_flag or role == "loss") and len({*judged.filled}) > 1:
            self._ask(about, Answer("columns", judged.name, role), role=role, column=judged)
            return role
        self.roles.pop(role, None)
        pairs = (("truth", truth), ("prediction", prediction))
        self._ask(about, *(Answer("columns", column.name, role) for role, column in pairs))
        self.roles |= {role: column.name for role, column in pairs}
        return "truth"

    def _settle_answers(self) -> bool:
        """Guess truth and prediction by their names; if only one is named, ask which column is the other."""
        hinted = {role: self._answers_like(role) for role in _ANSWERS if role not in self.roles}
        if any(self._pair()) or all(hinted.values()):
            for role, what in _ANSWERS.items():
                named = [] if role in self.roles else self._named(role)
                if len(named) == 1:
                    self._take(role, named[0])
                elif named or hinted.get(role):
                    self._choose(role, what, (named or hinted[role])[:3])
        missing = [role for role in _ANSWERS if role not in self.roles]
        if len(missing) == 1:
            other = next(self.columns.get(self.roles[role]) for role in _ANSWERS if role not in missing)
            shared = {*other.filled} if other else set()
            candidates = [column for column in self._free() if column.fits(missing[0]) and shared & {*column.filled}]
            candidates.sort(key=lambda column: -len(shared & {*column.filled}))
            if candidates:
                self._choose(missing[0], _ANSWERS[missing[0]], candidates[:3])
            else:
                self._ask(f"{_ANSWERS[missing[0]]}: no column can be it", Answer("columns", "COLUMN", missing[0]))
        return len(missing) < len(_ANSWERS)

    def _answers_like(self, role: str) -> list[Candidate]:
        kinds = ("truth", "key") if role == "truth" else (role,)
        return [column for column in self._free() if column.meaning.kind in kinds and column.fits(role)]

    def _ask_source(self) -> str:
        flags = [column for column in self._free() if column.is_flag]
        unnamed = [column for column in flags if column.meaning.kind in ("", "unclear", *_GRADED)]
        graded = [column for column in self._free() if column.is_number and column.meaning.kind in _GRADED]
        if graded and not unnamed:
            return self._ask_judgment([("score", column) for column in graded])
        about = "no name of a column suggests a loss, a score, or a truth and a prediction"
        unfit = [column for column in self._free() if column.meaning.kind in _JUDGED and column.kinds]
        if unnamed or (flags and not unfit):
            unnamed = unnamed or flags
            about += f"; {_listed(unnamed)} is a score if 1 is right, and a loss if 1 is wrong"
        elif unfit:
            about = f"{_listed(unfit)} holds neither numbers from 0 nor true and false"
        self._ask(f"how wrong an answer is: {about}", Answer("columns", "COLUMN", "ROLE" if flags else "score"))
        return ""

    def _settle_abstained(self) -> None:
        """Ask about a column whose name suggests that it marks abstentions, and that marks every missing answer."""
        source = next((self.roles[role] for role in ("loss", "score", "prediction") if role in self.roles), "")
        if "abstained" in self.roles or source not in self.columns:
            return
        marked = [column for column in self._free() if column.meaning.kind == "abstained" and column.is_flag]
        answers = self.columns[source].values
        for column in marked:
            rows = zip(answers, column.values, strict=True)
            if all(flag is not None and (flag or answer is not None) for answer, flag in rows):
                self._choose("abstained", "which answers are abstentions", [column])
                return

    # which cluster each row belongs to

    def _repeats(self, column: Candidate, *roles: str) -> bool:
        others = [self.columns[self.roles[role]].values for role in roles if self.roles.get(role) in self.columns]
        return len({*zip(column.values, *others, strict=True)}) < len(column.values)

    def _settle_cluster(self) -> None:
        if "cluster" in self.roles or self.given.own_clusters:
            return
        what, named = "what each row belongs to", self._named("cluster")
        if len(named) == 1:
            self._take("cluster", named[0])
            return
        unfit = [column for column in self._free() if is_of_cluster(column.name) and column.no_cluster]
        if unfit and not named:
            why = "; ".join(f"{shown(column.name)} {column.no_cluster}" for column in unfit[:3])
            self._ask(f"{what} (cluster): {why}", Answer("columns", "COLUMN", "cluster"))
            return
        candidates = named or sorted(filter(self._groups, self._free()), key=_cluster_likeness)
        if candidates:
            self._choose("cluster", what, candidates[:3], "" if named else _ALONE)
            return
        hinted = [column for column in self._free() if has_cluster_word(column.name) and not column.is_flag]
        if shared := [column for column in hinted if self._repeats(column, "system")]:
            self._ask(
                f"{what} (cluster): perhaps {_listed(shared[:3])}{_ALONE}", Answer("columns", "COLUMN", "cluster")
            )
            return
        hint = "no column says it; the option declares that no two rows share anything, and each is sampled by itself"
        self._ask(f"{what} (cluster): {hint}", Answer("every_row_its_own_cluster", value=True))

    def _groups(self, column: Candidate) -> bool:
        """Whether a column could hold clusters: names or ids that some rows share, but not all.

        One that is named so is a candidate even if no two rows share it: each row is then a cluster.
        """
        kind, distinct, is_named = column.meaning.kind, len({*column.filled}), is_of_cluster(column.name)
        is_few = not column.is_flag and 2 * distinct <= len(column.values)
        is_name = is_named or column.kinds == {str} or kind in _CLUSTERED or is_few
        may_be = is_named or kind in ("", *_CLUSTERED)
        fits = column.is_id or (not column.no_cluster and (is_named or kind in _CLUSTERED))
        if not (fits and is_name and may_be) or plain_name(column.name) in INDEXES:
            return False
        return distinct > 1 and (self._repeats(column, "system") or kind == "cluster")

    def _settle_item(self) -> None:
        if "item" in self.roles:
            return
        named = [column for column in self._named("item") if not self._repeats(column, "system", "cluster", "repeat")]
        if named:
            self._take("item", named[0])

    # which loss, and what ranks the answers

    def _settle_loss(self) -> None:
        answers = [self.columns.get(self.roles.get(role, "")) for role in SOURCES["truth"]]
        columns = [column for column in answers if column is not None]
        items = self.columns.get(self.roles.get("item", ""))
        known = self.given.instrument != "none" and items is not None and instrument_with({*items.filled})
        is_given = self.given.loss is not None or self.given.instrument not in (BY_ITEMS, "none") or known
        if is_given or any(column.is_text for column in columns):
            return
        if columns and all(column.is_flag for column in columns):
            self.loss = "zero_one"
        else:
            self._ask(WHICH_LOSS, Answer("loss", "zero_one"))

    def _settle_range(self) -> None:
        column = self.columns.get(self.roles.get("score", ""))
        if column is None or not column.is_number or (min(column.filled) >= 0 and max(column.filled) <= 1):
            return
        low, high = min(0, *column.filled), max(column.filled)
        high = next((limit for limit in _RANGES if limit >= high), high)
        about = f"the worst and the best score there can be: {shown(column.name)} holds {min(column.filled):g} to "
        self._ask(f"{about}{max(column.filled):g}", Answer("score_range", f"{low:g}:{high:g}"))

    def settle_confidence(self) -> None:
        """Guess the confidence: the only column whose name suggests one, and that is a number for every answer."""
        if self.given.confidence or (self.given.usual and self.given.usual <= self.columns.keys()):
            return
        numbers = [*self._numbers()]
        likeness = self._likeness(numbers)
        order = {name: (rank, self.columns[name].rank_among(CONFIDENCES)) for name, rank in likeness.items()}
        signals = [self.columns[name] for name in sorted(order, key=order.__getitem__)]
        what = "what ranks the answers (confidence): "
        if not signals:
            self._ask(f"{what}{self._no_signal(numbers)}", Answer("confidence", "COLUMN"))
            return
        name = signals[0].name
        if len(signals) == 1 and likeness[name] <= Likeness.CLEAR:
            self.confidence = name
            return
        turned = [Answer("lower_is_surer", name)] if likeness[name] == Likeness.DOUBT else []
        likely = ", where lower is likely to mean surer" if turned else ""
        self._ask(f"{what}{_listed(signals)}{likely}", Answer("confidence", name), *turned)

    def _likeness(self, columns: Iterable[Candidate]) -> dict[str, int]:
        names = [column.name for column in columns]
        turned = {name: _STATED for name in names if name in self.given.lower_is_surer}
        signals = {name: Likeness.CLEAR for name in names if self.fixed and not meaning(name).kind}
        return {**confidence_likeness(names), **signals, **turned}

    def _no_signal(self, numbers: Sequence[Candidate]) -> str:
        """What to know if no column can be proposed."""
        named = [self.columns[name] for name in self._likeness(self._free())]
        unknown = [column for column in numbers if column.meaning.kind in ("", "unclear")]
        if named:
            return f"{_listed(named)} is not a number for every answer"
        if unknown:
            return f"no name of a column suggests one; a number for every answer is {_listed(unknown)}"
        if numbers:
            return "no name of a column suggests one"
        nested = any(... in column.filled for column in self._free())
        return "no column is a number for every answer" + _IN_OBJECTS * nested

    def _numbers(self) -> Iterable[Candidate]:
        """The columns that play no role and are numbers for every answer."""
        answered = self._answered()
        judged = [(role, self.columns[name]) for role in _JUDGED if (name := self.roles.get(role, "")) in self.columns]
        for column in self._free():
            declared, plain = SIGNALS.get(column.name), plain_name(column.name)
            is_role = plain in ROLES or any(map(column.is_called, NAMES))
            if plain == "score":  # it may be a confidence, unless it says what the loss says
                is_role = any(agree(known, (plain, column)) for known in judged)
            no_signal = is_role or plain in INDEXES
            turned = declared is not None and declared.lower_is_more_confident
            numbers = (type(column.values[row]) in (int, float) for row in answered)
            if column.is_number and not no_signal and not turned and all(numbers):
                yield column

    def _answered(self) -> list[int]:
        """The rows of the sample that hold an answer."""
        name = next((self.roles[role] for role in ("loss", "score", "prediction") if role in self.roles), "")
        rows = range(len(next(iter(self.columns.values())).values))
        values = self.columns[name].values if name in self.columns else [...] * len(rows)
        excluding = {"abstained": (True, 1), "success": (False, 0)}
        present = [role for role in excluding if self.roles.get(role) in self.columns]
        flags = {role: self.columns[self.roles[role]].values for role in present}
        states = self.columns.get(self.roles.get("status", ""))
        failed = [states is not None and str(states.values[row]).startswith("failed") for row in rows]
        return [
            row
            for row in rows
            if values[row] is not None
            and not failed[row]
            and not any(cells[row] in excluding[role] for role, cells in flags.items())
        ]


def _cluster_likeness(column: Candidate) -> tuple[bool, int]:
    return not is_of_cluster(column.name) and column.meaning.kind not in _CLUSTERED, -len({*column.filled})


def _listed(columns: Iterable[Candidate]) -> str:
    return ", or ".join(shown(column.name) for column in columns)
