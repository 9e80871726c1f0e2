"""Parsing what many clients ask together: a thread that takes whatever has gathered since it was last free."""

import asyncio
import io
import logging
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain, islice, repeat
from threading import Condition, Thread
from typing import NamedTuple, TypeVar

from treebp.data.conll import read_conll
from treebp.data.sentence import Sentence
from treebp.parsing.parse import Parse
from treebp.pipeline import Pipeline
from treebp.serving.answers import sentence_json
from treebp.serving.questions import Limits, Question, RequestError
from treebp.tokenising.tokens import TokenisedSentence

_TURN = 16  # sentences of a question that are parsed before others have their turn
_ENOUGH_WORDS = 800  # are parsed together
_SHORT = 1000  # characters of a text that is tokenised together with others
T = TypeVar("T")
_LOG = logging.getLogger(__name__)


class _Item(NamedTuple):
    sentence: Sentence
    found: TokenisedSentence | None
    known: dict[int, int]
    forbidden: list[tuple[int, int]]


class Job:
    """A question on its way to its answer, a few sentences at a time; all of it happens in the engine's thread."""

    def __init__(self, question: Question, pipeline: Pipeline, limits: Limits) -> None:
        if question.input == "text" and pipeline.tokeniser is None:
            raise RequestError(400, "this model has no tokeniser: send CoNLL-U")
        self.question = question
        self.words = 0
        self._limits = limits
        self._found: list[TokenisedSentence] | None = None
        self._items = self._read(pipeline)
        self._next: _Item | None = None
        self._begun = False

    def _read(self, pipeline: Pipeline) -> Iterator[_Item]:
        question = self.question
        known = chain(question.known, repeat({}))
        forbidden = chain(question.forbidden, repeat([]))
        for number, (sentence, found) in enumerate(self._sentences(pipeline)):
            limit = self._limits.kbest_words if question.kbest else self._limits.words
            if len(sentence) > limit:
                trees = " for its k best trees" if question.kbest else ""
                raise RequestError(413, f"sentence {number + 1} has {len(sentence)} words, {limit} are allowed{trees}")
            yield _Item(sentence, found, next(known), next(forbidden))

    def _sentences(self, pipeline: Pipeline) -> Iterator[tuple[Sentence, TokenisedSentence | None]]:
        if self.question.input == "conllu":
            source = io.BytesIO(self.question.text.encode())
            for sentence in read_conll(source, format="conllu", check_trees=False):
                yield sentence, None
        elif pipeline.tokeniser is not None:
            every = self._found or pipeline.tokeniser.stream([self.question.text])
            for number, found in enumerate(every, 1):
                yield found.to_sentence(number), found

    @property
    def weight(self) -> int:
        """About how many words its next turn has."""
        return min(len(self.question.text) // 5, 20 * _TURN)

    @property
    def is_short_text(self) -> bool:
        """Whether it is a text to be tokenised whole, together with others."""
        return self.question.input == "text" and self._found is None and len(self.question.text) <= _SHORT

    def tokenised(self, found: list[TokenisedSentence]) -> None:
        """Use what was found in the text."""
        self._found = found

    def take(self) -> list[_Item]:
        """The next few sentences. Raises RequestError, or ValueError for CoNLL-U that is none."""
        items = [] if self._next is None else [self._next]
        items += islice(self._items, _TURN + 1 - len(items))
        self._next = items.pop() if len(items) > _TURN else None  # is there more?
        self.words += sum(len(item.sentence) for item in items)
        return items

    @property
    def is_last(self) -> bool:
        """Whether all sentences have been taken."""
        return self._next is None

    def render(self, items: list[_Item], parses: list[Parse]) -> bytes:
        """The piece of the answer with these sentences."""
        if self.question.output == "conllu":
            return "".join(parse.to_sentence(marginals=self.question.marginals).text for parse in parses).encode()
        pieces = [
            sentence_json(parse, item.found, marginals=self.question.marginals)
            for item, parse in zip(items, parses, strict=True)
        ]
        start = "," if self._begun else '{"sentences":['
        self._begun = True
        return (start + ",".join(pieces) + ("]}\n" if self.is_last else "")).encode()


class Piece(NamedTuple):
    """A part of an answer, and whether it is the last one."""

    content: bytes
    is_last: bool


_Outcome = Piece | Exception


class _Turn(NamedTuple):
    job: Job
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Piece]"


class Engine:
    """A thread that parses. The sentences of all jobs that wait are parsed together, and their answers are the same."""

    def __init__(self, pipeline: Pipeline, observe: Callable[[int], None] = lambda sentences: None):
        self._pipeline = pipeline
        self._observe = observe
        self._waiting: deque[_Turn] = deque()
        self._condition = Condition()
        self._is_closed = False
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    async def advance(self, job: Job) -> Piece:
        """The next piece of a job's answer. Raises RequestError or ValueError if the question has none."""
        loop = asyncio.get_running_loop()
        turn = _Turn(job, loop, loop.create_future())
        with self._condition:
            self._waiting.append(turn)
            self._condition.notify()
        return await turn.future

    def close(self) -> None:
        """End the thread, when it has done what waits."""
        with self._condition:
            self._is_closed = True
            self._condition.notify()
        self._thread.join()

    def _work(self) -> None:
        while (first := self._pop(wait=True)) is not None:
            turns, weight = [first], first.job.weight
            while weight < _ENOUGH_WORDS and (turn := self._pop(wait=False, kbest=first.job.question.kbest)):
                turns.append(turn)
                weight += turn.job.weight
            self._tokenise([turn.job for turn in turns if turn.job.is_short_text])
            outcomes: list[tuple[_Turn, _Outcome]] = []
            taken: list[tuple[_Turn, list[_Item]]] = []
            for turn in turns:
                items = _attempt(turn.job.take)
                if isinstance(items, Exception):
                    outcomes.append((turn, items))
                else:
                    taken.append((turn, items))
            _deliver(outcomes + self._answered(taken))

    def _tokenise(self, jobs: list[Job]) -> None:
        tokeniser = self._pipeline.tokeniser
        if tokeniser is not None and jobs:
            found = _attempt(lambda: tokeniser.tokenise_together([job.question.text for job in jobs]))
            # What fails together is tried one by one when it is taken, and found out then.
            for job, own in zip(jobs, [] if isinstance(found, Exception) else found, strict=False):
                job.tokenised(own)

    def _pop(self, *, wait: bool, kbest: int | None = None) -> _Turn | None:
        """The turn that has waited longest, of a client that still does, if it wants as many trees."""
        with self._condition:
            while True:
                while not self._waiting:
                    if self._is_closed or not wait:
                        return None
                    self._condition.wait()
                if kbest is not None and self._waiting[0].job.question.kbest != kbest:
                    return None
                turn = self._waiting.popleft()
                if not turn.future.cancelled():
                    return turn

    def _answered(self, taken: list[tuple[_Turn, list[_Item]]]) -> list[tuple[_Turn, _Outcome]]:
        """Parse together or, if that fails, each by itself, so that everybody has only their own errors."""
        outcome = _attempt(lambda: self._parsed(taken))
        if not isinstance(outcome, Exception):
            return [(turn, piece) for (turn, _), piece in zip(taken, outcome, strict=True)]
        if len(taken) == 1:
            return [(taken[0][0], outcome)]
        return [answer for one in taken for answer in self._answered([one])]

    def _parsed(self, taken: list[tuple[_Turn, list[_Item]]]) -> list[Piece]:
        items = [item for _, own in taken for item in own]
        self._observe(len(items))
        parses = iter(
            list(
                self._pipeline.parser.parse(
                    [item.sentence for item in items],
                    threads=1,
                    kbest=taken[0][0].job.question.kbest if taken else 0,
                    known=[item.known for item in items],
                    forbidden=[item.forbidden for item in items],
                )
            )
        )  # all of them, before any answer begins
        return [Piece(turn.job.render(own, list(islice(parses, len(own)))), turn.job.is_last) for turn, own in taken]


def _attempt(function: Callable[[], T]) -> T | Exception:
    try:
        return function()
    except (RequestError, ValueError, MemoryError) as error:
        return error
    except Exception as error:
        # Without its message, which may hold what a user has sent.
        where = "".join(traceback.format_tb(error.__traceback__))
        _LOG.error("%s while parsing:\n%s", type(error).__name__, where)
        return error


def _deliver(outcomes: list[tuple[_Turn, _Outcome]]) -> None:
    """Hand outcomes to those who wait, all at once, in the threads in which they do."""

    def hand_over() -> None:
        for turn, outcome in outcomes:
            if not turn.future.done():
                if isinstance(outcome, Exception):
                    turn.future.set_exception(outcome)
                else:
                    turn.future.set_result(outcome)

    for loop in {turn.loop for turn, _ in outcomes}:
        try:
            loop.call_soon_threadsafe(hand_over)
        except RuntimeError:  # the loop is closed: nobody waits any more
            continue
