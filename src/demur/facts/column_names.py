"""Guesses what a column contains from its name: a dictionary of words, and rules for names of several words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

from demur.facts.signals import SIGNALS

# The words of a name, in lower case, by what they suggest; word* stands for every word that begins so. A word may be
# written in two parts (in correct, p value), and two known words may be written as one (userid, maxprob).
_WORDS = {
    "confidence": (
        "conf confs confiden* ptrue yscore certain certainty sure sureness surety p pr prob probs proba probas "
        "probability probabilities msp softmax* likelihood* likely loglik* logprob* logp lp logit* margin margins "
        "similar similarity similarities sim cosine consistency agreement consensus vote votes voting belief credence "
        "trust trustworthiness reliability posterior plausibility"
    ),
    "doubt": (
        "uncertain* unconfiden* unsure* doubt* entropy entropies perplex* ppl variance variances var vars variability "
        "variation std stds stddev* stdev* stderr standarderror sd sds se sem dev devs devia* spread dispersion iqr "
        "nll nlls surpris* distan* dist dists rank ranks ranking ranked disagree* inconsisten* unreliab* unlikel* "
        "improbab* implausib* risk* anomal* outlier* novelty ood confus* hesita* ambigu* epistemic aleatoric pe bald "
        "distrust* mahalanobis divergence sigma"
    ),
    "loss": (
        "wrong* false error* errone* err errs loss losses incorrect* mistake* mistook hallucinat* confabulat* "
        "fabricat* misclassif* mispredict* misdiagnos* misread* mislabel* inaccura* fail* fault* flaw* bad invalid "
        "mismatch* miss missed misses penalt* residual* mae mse rmse mape wer cer regret brier violat* unsafe harmful "
        "unfaithful* unsupported ungrounded untrue untruthful* defect* bug bugs buggy discrepan* unsatisf* "
        "unacceptable inadequate falseneg falsenegative falsenegatives falsepos falsepositive falsepositives falsealarm"
    ),
    "score": (
        "correct correctly correctness right rightly accura* acc exactmatch match matches matched em pass passes "
        "passed solved solves succe* ok okay valid hit hits done good win won perfect faithful* grounded supported "
        "truthful* factual* helpful* satisf* acceptable adequate"
    ),
    "gap": "diff diffs difference differences",
    "scored": "score scores",
    "graded": (
        "rating ratings grade grades quality points marks reward rewards stars f1 bleu rouge* meteor chrf bertscore "
        "iou dice credit"
    ),
    "abstained": (
        "abstain* abstention* refus* declin* unanswer* noanswer idk skipped deferred defer deferral punted nonresponse"
    ),
    "truth": (
        "true truth* gold golden groundtruth ytrue target targets label labels reference references ref refs expected "
        "actual answerkey"
    ),
    "prediction": "pred preds predict* ypred yhat guess guessed",
    "answer": (
        "answer answers response responses output outputs reply replies choice chosen selected completion* "
        "generation* option"
    ),
    "cluster": (
        "participant* patient* subject* user* document* doc docs conversation* session* mrn person* people "
        "individual* respondent* student* pupil* teacher* child* speaker* writer* author* client* customer* member* "
        "worker* account* family families household* annotator* rater* reviewer* coder* physician* doctor* clinician* "
        "nurse* therapist* hospital* clinic clinics ward wards site* center* centre* school* practice* device* "
        "machine* camera* scanner* batch* group* team* company institution* interview* visit visits encounter* "
        "admission* case cases episode* dialog* thread* chat* call calls post posts article* paper* page* paragraph* "
        "passage* context* image* video* audio note notes report* record* study event* source* topic* cohort* animal* "
        "mouse subj subjid usubjid ptid pt"
    ),
    "item": "question* item items example* sample* prompt* task* query queries problem* instance* exercise*",
    "system": "model models system systems llm classifier detector",
    "id": (
        "id ids uid pid qid uuid guid key code codes nr no num number index idx hash name names file filename path "
        "url link email phone zip zipcode postcode ssn row rows line ordinal"
    ),
    "other": (
        "age ages aged year* yr yrs month* day days hour* hr hrs minute* second seconds sec secs ms time* date* ts "
        "epoch* dob birth* duration latency elapsed cost* price* usd weight* height* bmi temperature* seed* fold* "
        "split* step steps shot shots version* created* updated* type types category categories kind threshold* "
        "interval ci pvalue pval sex gender race ethnicity"
    ),
    "amount": (
        "n nb count counts total totals token tokens word words char chars character characters length* len size "
        "sizes position difficulty level levels answered attempted responded"
    ),
    "not": (
        "not non un minus without free less never isn isnt wasn wasnt aren arent don dont doesn doesnt didn didnt "
        "cannot cant"
    ),
    "turned": (
        "neg negative negated inverse inverted inv reciprocal low lack lacks revers* rev flip* complement* deficit "
        "missing opposite other others"
    ),
    "unclear": (
        "lower higher better worse smaller larger order gap gaps delta versus vs or fixed corrected resolved avoided "
        "absent removed prevented repaired caught detected found flagged"
    ),
    "plain": (
        "is was has the abs absolute one zeroone zeroshot fewshot value values flag bool binary indicator col column"
    ),
    "mild": (
        "mean avg average median max maximum min minimum sum raw norm normalized normalised log top first last final "
        "overall self pct percent percentage rate share fraction per of in a y yes class classes verbal* stated "
        "reported calibrated semantic seq sequence ensemble judge judged llm"
    ),
}
_SILENT = ("plain", "mild", "not", "turned")  # kinds of words that by themselves suggest nothing
_JUDGING = ("confidence", "doubt", "loss", "score", "key", "scored", "graded")  # which way round they are must be known
_FORECAST = {"predicted", "expected", "estimated", "anticipated"}  # such an error is not known yet
_EXACT = {word: kind for kind, words in _WORDS.items() for word in words.split() if not word.endswith("*")}
_STEMS = {word[:-1]: kind for kind, words in _WORDS.items() for word in words.split() if word.endswith("*")}
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_COMPLEMENT = re.compile(r"^[\s(]*(?:(?:1|1\.0+|100 ?%?|one)\s*[-−–]|1\s*/|[-−–~!¬](?:\s*1\s*\*)?)[\s)(]*(?=[^\W\d])")
_FORMULA = re.compile(  # a sign of a formula, a minus that is no hyphen, or a number that something is taken from
    r"""[^\w\s\-−–.,:;/()\[\]{}?%@#&'"|!~¬]|\s[-−–]\s|[(~!¬]\s*[-−–]"""
    r"|(?<![\d/.−–-])(?:1|1\.0+|100)\s*[-−–/]\s*[^\W\d]"
)
_PREFIXES = ("un", "in", "im", "mis", "dis")
_SHORT = ("is", "id")  # known words within another have three letters or more, but for these
_LONGEST_NAME, _LONGEST_WORD = 200, 40  # longer ones are no names, and are not looked at


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the name of a column suggests about its contents.

    `kind` is a role, `confidence` or `doubt` (its opposite), `id`, `other`, empty for nothing, or one of these in
    between: `graded` and `scored` for how good something is, perhaps the answer; `key` for what is right, or whether
    the answer is; `unclear` for a name about right and wrong, or sure and unsure, that may mean either. It is `clear`
    if no word of the name suggests anything else.
    """

    kind: str = ""
    clear: bool = True

    def negated(self, kinds: Sequence[str | None]) -> "Meaning":
        """The meaning after applying the negations among the kinds of its words; a negated meaning is never clear."""
        times, turned = kinds.count("not"), kinds.count("turned")
        if not times + turned or self.kind == _UNCLEAR.kind:
            return self
        is_known = times + turned == 1 and not (turned and self.kind in ("loss", "score"))
        if self.kind in (*_JUDGING, "abstained"):
            return Meaning(_OPPOSITES[self.kind], clear=False) if is_known and self.kind in _OPPOSITES else _UNCLEAR
        return Meaning(self.kind, clear=False)


_UNCLEAR = Meaning("unclear", clear=False)


# Of several kinds in one name, the first counts: predicted_score is a prediction, and user_score a grade.
_RANKED = (
    *("abstained", "loss", "score", "other", "gap", "prediction", "truth"),
    *("graded", "scored", "answer", "amount", "cluster", "item"),
)
_MIXED = (
    *({"loss", other} for other in ("score", "scored", "graded", "abstained")),
    *({"score", other} for other in ("doubt", "abstained")),
    *({"gap", other} for other in ("confidence", "doubt", "score", "scored", "graded")),
)
_OPPOSITES = {"confidence": "doubt", "doubt": "confidence", "loss": "score", "score": "loss"}


@lru_cache(maxsize=2**16)
def meaning(name: str) -> Meaning:
    """Guess from the name of a column what it contains.

    >>> [meaning(name).kind for name in ("maxProb", "token_entropy_mean", "p(wrong)", "not correct", "userid", "x7")]
    ['confidence', 'doubt', 'doubt', 'loss', 'cluster', '']
    """
    words = words_of(name)
    kinds = _kinds_of(words)
    telling = [kind for kind in kinds if kind not in (*_SILENT, None)]
    if not telling:
        return Meaning()
    found = _combined({*telling}, telling[-1]).negated(kinds)
    is_formula = _FORMULA.search(_COMPLEMENT.sub("", name)) or {"true", "false"} <= {*words}
    # Which way round a name is that has an unknown word, or is a formula, cannot be known.
    is_unknown = is_formula or None in kinds or (found.kind in ("loss", "score") and _FORECAST & {*words})
    return _UNCLEAR if found.kind in _JUDGING and is_unknown else found


def is_of_cluster(name: str) -> bool:
    """Whether a name is, or ends in, a word for clusters: `gold_doc` may be a truth, or the document of the row."""
    telling = [kind for kind in _kinds_of(words_of(name)) if kind not in (*_SILENT, None)]
    return meaning(name).kind == "cluster" or telling[-1:] == ["cluster"]


def has_cluster_word(name: str) -> bool:
    """Whether any word of a name is a word for clusters, such as patient or document."""
    return "cluster" in _kinds_of(words_of(name))


def _kinds_of(words: Sequence[str]) -> list[str | None]:
    """The kinds of the words of a name; None for one that is not known, and is no number."""
    kinds = ["plain" if word.isdigit() else _kind_of(word) for word in words]
    if "no" in words and (words[-1] != "no" or "confidence" in kinds):  # not the number of patient_no
        kinds[words.index("no")] = "not"
    for index, (word, following) in enumerate(pairwise([*words, ""])):
        if word in ("zero", "0") and following != "1":  # no errors, or an index, or a value that is meant
            kinds[index] = "not" if _kind_of(following) == "loss" else None
    return kinds


def _combined(kinds: set[str], last: str) -> Meaning:
    """What words of several kinds suggest together; the last says what the column is, the others of what."""
    if last in ("id", "other"):
        return Meaning("cluster" if last == "id" and kinds <= {"cluster", "id"} and len(kinds) > 1 else last)
    judging = kinds & {*_JUDGING}
    if judging and (kinds & {"unclear", "other"} or last in ("cluster", "item") or any(map(kinds.issuperset, _MIXED))):
        return _UNCLEAR
    if "doubt" in kinds or ("confidence" in kinds and kinds & {"loss", "abstained"}):
        return Meaning("doubt", clear=False)
    if "confidence" in kinds:
        return Meaning("confidence")
    kind = "prediction" if kinds == {"system", "truth"} else next((kind for kind in _RANKED if kind in kinds), last)
    if kind == "score" and kinds & {"truth", "answer"}:
        return Meaning("key", clear=False)
    renamed = {"answer": "prediction", "amount": "other", "gap": "loss"}
    return Meaning(renamed.get(kind, kind), clear=len(kinds) == 1)


class Likeness(IntEnum):
    """How clearly a name is that of a confidence: certainly, possibly, of a grade, or of its opposite (doubt)."""

    CLEAR = 1
    UNCLEAR = 2
    GRADE = 3
    DOUBT = 4


def confidence_likeness(names: Iterable[str]) -> dict[str, Likeness]:
    """The names that may be those of a confidence, with how clearly; grades only if there are no others.

    >>> confidence_likeness(["age", "p", "quality", "entropy"])
    {'p': <Likeness.CLEAR: 1>, 'entropy': <Likeness.DOUBT: 4>}
    """
    known = {name: likeness for name in names if (likeness := _likeness(name))}
    return {name: likeness for name, likeness in known.items() if likeness != Likeness.GRADE} or known


def _likeness(name: str) -> Likeness | None:
    if name in SIGNALS or core(name) == ("score",):
        return Likeness.CLEAR
    suggested = meaning(name)
    if suggested.kind == "confidence":
        return Likeness.CLEAR if suggested.clear else Likeness.UNCLEAR
    return {"scored": Likeness.GRADE, "doubt": Likeness.DOUBT}.get(suggested.kind)


@lru_cache(maxsize=2**16)
def core(name: str) -> tuple[str, ...]:
    """The words of a name without those that carry no meaning.

    >>> core("Is Correct?"), core("abs_error"), core("Question ID")
    (('correct',), ('error',), ('question', 'id'))
    """
    return tuple(word for word in words_of(name) if _kind_of(word) != "plain") + ("?",) * bool(_FORMULA.search(name))


@lru_cache(maxsize=2**16)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in lower case; run-together words are split, and words written in two parts are joined.

    >>> words_of("isCorrect"), words_of("USER_ID"), words_of("std. dev"), words_of("maxprob"), words_of("1 - p")
    (('is', 'correct'), ('user', 'id'), ('stddev',), ('max', 'prob'), ('minus', 'p'))
    """
    if len(name) > _LONGEST_NAME:
        return ()
    text = _PARTS.sub("_", _COMPLEMENT.sub("minus ", name)).casefold()
    parts, words = re.findall(r"[^\W_]+", text), list[str]()
    for part in parts:
        whole = words[-1] + part if words else ""
        if whole in _EXACT or whole in _STEMS or (words and words[-1] in _PREFIXES and _kind_of(whole)):
            words[-1] = whole
        else:
            words += _split(part)
    return tuple(words)


def _split(word: str) -> list[str]:
    """The two known words that a word is made of, or else the word itself."""
    if word not in _EXACT and word not in _STEMS and len(word) <= _LONGEST_WORD:
        for cut in range(len(word) - 1, 0, -1):
            parts = [word[:cut], word[cut:]]
            if all(len(part) > len("id") or part in _SHORT for part in parts) and _are_known(parts):
                return parts
    return [word]


def _are_known(parts: Sequence[str]) -> bool:
    return all(part in _EXACT or part in _STEMS for part in parts) and parts[0] not in _PREFIXES


def _kind_of(word: str) -> str | None:
    """The kind of a word, None if it is unknown; that of its longest known beginning if it is not listed itself."""
    beginnings = (word[:end] for end in range(min(len(word), _LONGEST_WORD), 0, -1))
    return _EXACT.get(word) or next((_STEMS[each] for each in beginnings if each in _STEMS), None)
