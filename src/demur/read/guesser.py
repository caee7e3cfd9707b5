"""Guesses which column of a table plays which role, by the names and the values of the columns."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from demur.errors import UserError, shown
from demur.facts.instruments import BY_ITEMS, instrument_with
from demur.facts.signals import SIGNALS
from demur.read.guess import INDEXES, NAMES, Candidate, Given, Guess, Question, plain_name
from demur.read.paths import with_paths
from demur.read.table_options import ROLES, SOURCES, check_mapped
from demur.read.tables import NO_ROWS, opened_table
from demur.read.units_file import MEMBERS

_ROWS = 5000
_RANGES = (1, 5, 10, 100)
_ANSWERS = {"truth": "what is right", "prediction": "what the system answered"}


def guess(table: str | Path | object, given: Given) -> Guess:
    """Which column plays which role, by the names and the first rows of a table."""
    with opened_table(table) as (plain, _):
        opened = with_paths(plain, given.columns.values())
        rows = [row for _, row in islice(opened.rows(opened.header), _ROWS)]
        names = dict.fromkeys([*opened.header, *(name for row in rows for name in row)])
        columns = {name: Candidate.of(name, [row.get(name) for row in rows], opened) for name in names}
        fixed = opened.units is not None
        if not rows:
            raise UserError(NO_ROWS)
        if not fixed:
            check_mapped(columns, given.columns)
    guesser = _Guesser(columns, given)
    if fixed:
        guesser.roles = {member: member for member in MEMBERS}
    else:
        guesser.settle_roles()
    guesser.settle_confidence()
    return Guess(guesser.taken, guesser.loss, guesser.confidence, tuple(guesser.questions))


class _Guesser:
    """Guesses one thing after another; after a question it goes on with the likeliest answer."""

    def __init__(self, columns: Mapping[str, Candidate], given: Given) -> None:
        self.columns, self.given = columns, given
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
        source = self._settle_source()
        unused = {role for other, roles in SOURCES.items() if other != source for role in roles}
        self.roles = {role: name for role, name in self.roles.items() if role not in unused}
        self._settle_cluster()
        self._settle_item()
        if source == "truth":
            self._settle_loss()
        elif source == "score" and self.given.score_range is None:
            self._settle_range()

    def _free(self) -> list[Candidate]:
        used = {*self.roles.values()}
        return [column for name, column in self.columns.items() if name not in used]

    def _named(self, role: str) -> list[Candidate]:
        """The columns with a common name of a role, the likeliest name first."""
        columns = [column for column in self._free() if column.plays(role)]
        return sorted(columns, key=lambda column: column.rank_among(NAMES[role]))

    def _take(self, role: str, column: Candidate) -> None:
        self.roles[role] = self.taken[role] = column.name

    def _ask(self, about: str, *words: str, role: str = "", column: Candidate | None = None) -> None:
        self.questions.append(Question(about, words))
        if column is not None:
            self.roles[role] = column.name

    def _choose(self, role: str, what: str, columns: Sequence[Candidate], more: str = "") -> None:
        """Ask which of several columns plays a role; the first is the likeliest."""
        about = f"{what} ({role}): {_listed(columns)}{more}"
        self._ask(about, "--column", f"{role}={columns[0].name}", role=role, column=columns[0])

    # how wrong the answers are

    def _settle_source(self) -> str:
        stated = [source for source, roles in SOURCES.items() if any(role in self.given.columns for role in roles)]
        exact = [source for source, roles in SOURCES.items() if all(role in self.roles for role in roles)]
        if stated[:1] in (["loss"], ["score"]) or (not stated and exact and exact != ["score"]):
            return (stated or exact)[0]
        scores = [] if stated else [self.columns["score"]] if exact else self._named("score")
        if scores and self._scored(scores):
            return "score"
        return "truth" if self._settle_answers() else self._ask_source()

    def _scored(self, scores: list[Candidate]) -> bool:
        """Whether scores give the loss: there are no answers, or answers that are texts, or that agree with them."""
        pair = [self._named(role)[:1] if role not in self.roles else [self.columns[role]] for role in _ANSWERS]
        if all(pair):
            (truth,), (prediction,) = pair
            agree = scores[0].is_flag and all(
                score is None or score == (right == answer)
                for score, right, answer in zip(scores[0].values, truth.values, prediction.values, strict=True)
            )
            texts = scores[0].is_flag and (truth.is_text or prediction.is_text)
            if not (agree or texts):
                return self._ask_which(scores[0], truth, prediction)
        if len(scores) > 1:
            self._choose("score", "how good each answer is", scores)
        elif scores[0].name != "score":
            self._take("score", scores[0])
        return True

    def _ask_which(self, score: Candidate, truth: Candidate, prediction: Candidate) -> bool:
        """Ask whether a score or the answers give the loss; true if the likeliest answer is the score."""
        both = f"{shown(truth.name)} and {shown(prediction.name)}"
        about = f"how wrong an answer is: told by {shown(score.name)}, or by {both}"
        if score.is_flag:
            self._ask(about, "--column", f"score={score.name}", role="score", column=score)
            return True
        self.roles.pop("score", None)
        pairs = (("truth", truth), ("prediction", prediction))
        self._ask(about, *(word for role, column in pairs for word in ("--column", f"{role}={column.name}")))
        self.roles |= {role: column.name for role, column in pairs}
        return False

    def _settle_answers(self) -> bool:
        """Guess truth and prediction by their names; if only one is named, ask which column is the other."""
        for role, what in _ANSWERS.items():
            named = [] if role in self.roles else self._named(role)
            if len(named) == 1:
                self._take(role, named[0])
            elif named:
                self._choose(role, what, named)
        missing = [role for role in _ANSWERS if role not in self.roles]
        if len(missing) == 1:
            other = next(self.columns.get(self.roles[role]) for role in _ANSWERS if role not in missing)
            shared = {*other.filled} if other else set()
            candidates = [column for column in self._free() if column.kinds and ... not in column.filled]
            candidates.sort(key=lambda column: -len(shared & {*column.filled}))
            if candidates:
                self._choose(missing[0], _ANSWERS[missing[0]], candidates[:3])
            else:
                self._ask(f"{_ANSWERS[missing[0]]}: no column can be it", "--column", f"{missing[0]}=COLUMN")
        return len(missing) < len(_ANSWERS)

    def _ask_source(self) -> str:
        free = self._free()
        candidates = [column for column in free if column.is_flag or (column.is_number and column.is_called("score"))]
        if candidates:
            candidates.sort(key=lambda column: not column.is_called("score"))
            self._choose("score", "how good each answer is", candidates)
            return "score"
        missing = "no column is called a loss, a score, or a truth and a prediction"
        hint = "map one to loss or score, or two to truth and prediction"
        self._ask(f"how wrong an answer is: {missing}; {hint}", "--column", "score=COLUMN")
        return ""

    # which cluster each row belongs to

    def _repeats(self, column: Candidate, *roles: str) -> bool:
        """Whether two rows that agree in these roles have the same value in a column."""
        others = [self.columns[self.roles[role]].values for role in roles if self.roles.get(role) in self.columns]
        return len({*zip(column.values, *others, strict=True)}) < len(column.values)

    def _settle_cluster(self) -> None:
        if "cluster" in self.roles or self.given.own_clusters:
            return
        what, named = "what each row belongs to", self._named("cluster")
        if len(named) == 1:
            self._take("cluster", named[0])
            return
        candidates = named or sorted(filter(self._groups, self._free()), key=lambda column: -len({*column.filled}))
        if candidates:
            hint = "; if no two rows share anything: --every-row-its-own-cluster"
            self._choose("cluster", what, candidates[:3], hint)
            return
        hint = "no column says it; the option declares that no two rows share anything, and each is sampled by itself"
        self._ask(f"{what} (cluster): {hint}", "--every-row-its-own-cluster")

    def _groups(self, column: Candidate) -> bool:
        """Whether a column could hold clusters: names or ids that some rows share, but not all."""
        answers = column.plays("truth") or column.plays("prediction") or column.plays("score")
        is_name = column.is_id and (column.kinds == {str} or plain_name(column.name).endswith("id"))
        return is_name and not answers and len({*column.filled}) > 1 and self._repeats(column, "system")

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
            self._ask("the loss: zero_one if a number is a class, abs if it is an amount", "--loss", "zero_one")

    def _settle_range(self) -> None:
        column = self.columns.get(self.roles.get("score", ""))
        if column is None or not column.is_number or (min(column.filled) >= 0 and max(column.filled) <= 1):
            return
        low, high = min(0, *column.filled), max(column.filled)
        high = next((limit for limit in _RANGES if limit >= high), high)
        about = f"the worst and the best score there can be: {shown(column.name)} holds {min(column.filled):g} to "
        self._ask(f"{about}{max(column.filled):g}", "--score-range", f"{low:g}:{high:g}")

    def settle_confidence(self) -> None:
        """Guess the confidence: the only column that is a number for every answer and plays no role."""
        if self.given.confidence or (self.given.usual and self.given.usual <= self.columns.keys()):
            return
        lower = self.given.lower_is_surer
        signals = sorted(self._signals(), key=lambda column: (column.name not in lower, column.likeness))
        what = "what ranks the answers (confidence): "
        if not signals:
            nested = any(... in column.filled for column in self._free())
            hint = "; it may be a path into objects, which demur fields lists" if nested else ""
            self._ask(f"{what}no column is a number for every answer{hint}", "--confidence", "COLUMN")
            return
        name, doubted = signals[0].name, signals[0].is_doubt and signals[0].name not in lower
        if len(signals) == 1 and not doubted:
            self.confidence = name
            return
        turned = ("--lower-is-surer", name) if doubted else ()
        likely = ", where lower is likely to mean surer" if doubted else ""
        self._ask(f"{what}{_listed(signals)}{likely}", "--confidence", name, *turned)

    def _signals(self) -> Iterable[Candidate]:
        answered = self._answered()
        for column in self._free():
            declared = SIGNALS.get(column.name)
            is_role = column.name != "score" and (column.name in ROLES or any(map(column.is_called, NAMES)))
            no_signal = is_role or plain_name(column.name) in INDEXES
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


def _listed(columns: Iterable[Candidate]) -> str:
    return ", or ".join(shown(column.name) for column in columns)
