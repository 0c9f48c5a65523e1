"""The engine behind the simulator: batches, queues and speculates in virtual time. Knows no network and no text.

One step decodes every running sequence: it takes `s0 + s1 * batch` seconds plus the prefill of what it admits. A cap
makes requests wait. With speculation a step brings several tokens, the fewer the larger the batch.
"""

import random
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

BLOCK_CHARACTERS = 64
CHARACTERS_PER_TOKEN = 4
CACHED_BLOCKS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """How a simulated engine behaves."""

    name: str
    s0_s: float
    """What a step costs however many sequences it decodes."""
    s1_s: float
    """What each sequence adds to a step."""
    cap: int | None = None
    """Sequences that run at once; None: no limit."""
    declared_cap: int | None = None
    """The cap that the server states; None: the real one."""
    prefill_s: float = 0.004
    """What admitting a request costs, besides its tokens."""
    prefill_token_s: float = 0.00002
    """What each prompt token costs that the prefix cache does not hold."""
    prefills_per_step: int = 16
    prefix_cache: bool = True
    jitter: float = 0.01
    """Standard deviation of a step's time, relative."""
    draft: int = 0
    """Tokens that a drafter proposes in each step; 0: no speculation."""
    acceptance: float = 0.8
    """Chance that a drafted token is accepted, given the ones before it, for a batch of one."""
    acceptance_halves_at: float = 200.0
    """The batch at which that chance has fallen to a half of it."""
    draft_cost: float = 0.0
    """What drafting and checking add to a step, relative."""
    ragged: float = 0.0
    """Answers end early, by up to this share of the token cap; such an engine does not take `ignore_eos`."""
    context_tokens: int = 65_536

    @property
    def stated_cap(self) -> int | None:
        """The cap that the server says it has."""
        return self.cap if self.declared_cap is None else self.declared_cap


@dataclass(slots=True, eq=False)
class Job:
    """One request inside the engine; times are virtual seconds."""

    arrived_s: float
    prompt_tokens: int
    length: int
    """Tokens that it will generate."""
    cached_tokens: int = 0
    admitted_s: float | None = None
    first_s: float | None = None
    last_s: float | None = None
    made: int = 0
    batch: int = 0
    """Sequences that ran in its first step."""


@dataclass(slots=True)
class Counters:
    """What the engine has done since it started."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    steps: int = 0


@dataclass(slots=True)
class Engine:
    """A preset at work."""

    preset: Preset
    seed: int = 0
    now_s: float = 0.0
    waiting: deque[Job] = field(default_factory=deque)
    running: list[Job] = field(default_factory=list)
    counters: Counters = field(default_factory=Counters)
    _rng: random.Random = field(init=False)
    _blocks: OrderedDict[bytes, None] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)

    def submit(self, job: Job) -> None:
        """Let a request arrive; arrivals come in the order of their times."""
        self.waiting.append(job)

    def cancel(self, job: Job) -> None:
        """Forget a request whose client has gone."""
        if job in self.waiting:
            self.waiting.remove(job)
        if job in self.running:
            self.running.remove(job)

    def step(self) -> list[tuple[Job, int]]:
        """Run one step: moves `now_s` to its end and returns each sequence with its new tokens; empty when idle."""
        if not self.running:
            if not self.waiting:
                return []
            self.now_s = max(self.now_s, self.waiting[0].arrived_s)
        prefill_s = self._admit()
        batch = len(self.running)
        draft = 1.0 + self.preset.draft_cost * (self.preset.draft > 0)
        seconds = (self.preset.s0_s + self.preset.s1_s * batch) * draft
        self.now_s += (seconds + prefill_s) * max(0.2, self._rng.gauss(1.0, self.preset.jitter))
        self.counters.steps += 1
        made = [(job, self._decode(job, batch)) for job in self.running]
        self.running = [job for job in self.running if job.made < job.length]
        return made

    def _admit(self) -> float:
        """Take waiting requests into the batch; returns what their prefill costs, in seconds."""
        free = self.preset.prefills_per_step
        if self.preset.cap is not None:
            free = min(free, self.preset.cap - len(self.running))
        cost_s = 0.0
        while free > 0 and self.waiting and self.waiting[0].arrived_s <= self.now_s:
            job = self.waiting.popleft()
            job.admitted_s = self.now_s
            self.running.append(job)
            self.counters.prompt_tokens += job.prompt_tokens
            self.counters.cached_tokens += job.cached_tokens
            cost_s += self.preset.prefill_s
            cost_s += self.preset.prefill_token_s * (job.prompt_tokens - job.cached_tokens)
            free -= 1
        return cost_s

    def _decode(self, job: Job, batch: int) -> int:
        tokens = 1 + (self._accepted(batch) if self.preset.draft else 0)
        tokens = min(tokens, job.length - job.made)
        if job.first_s is None:
            job.first_s, job.batch = self.now_s, batch
        job.made += tokens
        job.last_s = self.now_s
        self.counters.generated_tokens += tokens
        return tokens

    def _accepted(self, batch: int) -> int:
        chance = self.preset.acceptance / (1.0 + (batch - 1) / self.preset.acceptance_halves_at)
        accepted = 0
        while accepted < self.preset.draft and self._rng.random() < chance:
            accepted += 1
        self.counters.drafted_tokens += self.preset.draft
        self.counters.accepted_tokens += accepted
        return accepted

    def length(self, max_tokens: int) -> int:
        """How many tokens a free answer gets."""
        if not self.preset.ragged:
            return max_tokens
        return max(1, round(max_tokens * (1.0 - self.preset.ragged * self._rng.random())))

    def cached(self, prompt: str) -> int:
        """Tokens of the prompt's beginning that an earlier prompt had too; the prompt is remembered."""
        if not self.preset.prefix_cache:
            return 0
        chain, hits, unbroken = b"", 0, True
        for start in range(0, len(prompt) - BLOCK_CHARACTERS + 1, BLOCK_CHARACTERS):
            block = prompt[start : start + BLOCK_CHARACTERS].encode("utf-8", "surrogatepass")
            chain = blake2b(chain + block, digest_size=16).digest()
            unbroken = unbroken and chain in self._blocks
            hits += unbroken
            self._blocks[chain] = None
            self._blocks.move_to_end(chain)
        while len(self._blocks) > CACHED_BLOCKS:
            self._blocks.popitem(last=False)
        return hits * BLOCK_CHARACTERS // CHARACTERS_PER_TOKEN


def token_count(prompt: str) -> int:
    """The tokens of a prompt, by the simulator's rule: four characters each."""
    return max(1, -(-len(prompt) // CHARACTERS_PER_TOKEN))


def simulated_jobs(preset: Preset, arrivals: Iterable[tuple[float, int, int]], seed: int = 0) -> list[Job]:
    """Requests of (arrival in s, prompt tokens, length), run to their ends without a network.

    The prompts count as cached, as identical prompts are after a warm-up.
    """
    engine = Engine(preset, seed)
    jobs = [Job(arrived, prompt, length, cached_tokens=prompt) for arrived, prompt, length in sorted(arrivals)]
    for job in jobs:
        engine.submit(job)
    while engine.step():
        pass
    return jobs
