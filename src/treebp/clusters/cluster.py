"""Many jobs on a Ray cluster: workers that are built once, and jobs that outlive them.

Jobs are plain tasks of Ray's actors, not rows of Ray Data: what we run are whole files that become files of the same
name, and training runs. Ray starts an actor that died again, and the job that it was at; a job that its workers do not
survive is a failure of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, TypeVar

Job = TypeVar("Job")
R = TypeVar("R")
_ATTEMPTS = 3
LOCAL = "local"


class JobOutcome(NamedTuple, Generic[Job, R]):
    """What became of a job: its result, or why there is none; and the number of the worker that did it."""

    worker: int
    job: Job
    result: R | None
    failure: str | None


def run_on_cluster(
    address: str,
    make_worker: Callable[[], Callable[[Job], R]],
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    choose: Callable[[Sequence[Job], Job | None, Sequence[Job]], Job] = lambda waiting, last, running: waiting[0],
) -> Iterator[JobOutcome[Job, R]]:
    """Run jobs on a cluster, and yield their outcomes as they come.

    Args:
        address: of the cluster, "auto" for the one that this machine belongs to, "local" for one on this machine that
            ends with the work.
        make_worker: makes, once on each worker, what is then called with one job after the other.
        jobs: what to do.
        workers: with one processor each; by default as many as the cluster has processors.
        choose: the next job for a worker, given those that wait, its last one, and those that the others are at.

    Raises:
        ValueError: if there is no such cluster, or Ray is not installed.

    """
    ray = _ray()
    waiting = list(jobs)
    with _connected(ray, address, workers):
        count = min(workers or int(ray.cluster_resources().get("CPU", 1)), len(waiting))
        remote = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=_ATTEMPTS - 1)(_Worker)
        actors = [remote.remote(make_worker) for _ in range(count)]
        last: list[Job | None] = [None] * count
        running: dict[Any, tuple[int, Job]] = {}
        while waiting or running:
            idle = set(range(count)) - {worker for worker, _ in running.values()}
            for worker in sorted(idle) if waiting else ():
                job = choose(waiting, last[worker], [job for _, job in running.values()])
                waiting.remove(job)
                running[actors[worker].run.remote(job)] = worker, job
                last[worker] = job
                if not waiting:
                    break
            for reference in ray.wait(list(running))[0]:
                worker, job = running.pop(reference)
                yield _outcome(ray, reference, worker, job)


def _outcome(ray: Any, reference: Any, worker: int, job: Job) -> "JobOutcome[Job, Any]":
    try:
        result, failure = ray.get(reference)
    except ray.exceptions.RayError:
        result, failure = None, f"its worker died, {_ATTEMPTS} times"
    return JobOutcome(worker, job, result, failure)


class _Worker:
    """What runs on the cluster."""

    def __init__(self, make_worker: Callable[[], Callable[[Any], Any]]) -> None:
        self._work = make_worker()

    def run(self, job: Any) -> tuple[Any, str | None]:
        try:
            return self._work(job), None
        except Exception as error:  # whatever it is, it is one job's, and the others go on
            return None, f"{error}" if isinstance(error, ValueError | OSError) else f"{type(error).__name__}: {error}"


@contextmanager
def _connected(ray: Any, address: str, workers: int | None) -> Iterator[None]:
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == LOCAL:
        options |= {"address": "local", "num_cpus": workers, "include_dashboard": False}
    else:
        options["address"] = address
    try:
        ray.init(**options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"there is no Ray cluster at {address!r}: {reason}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise ValueError("--ray needs more packages: pip install 'treebp[ray]'") from None
    return ray
