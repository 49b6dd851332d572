"""Runs trials in two processes and keeps every result at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass

from onesided.experiments.setting import ReproductionSetting
from onesided.experiments.store import ResultStore
from onesided.experiments.trial import Results, Trial

PROCESSES = 2
THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TrialRunner:
    """Results of trials: from the store where they are there, else measured and stored."""

    setting: ReproductionSetting

    @property
    def store(self) -> ResultStore:
        return ResultStore(self.setting.results)

    def run(
        self,
        trials: Iterable[Trial],
        progress: Progress = lambda done, total: None,
        finished: Callable[[Trial], None] = lambda trial: None,
    ) -> None:
        """Measure what is missing; what is finished survives an interruption.

        - `finished`: told of each trial once its results are there.
        """
        wanted = list(dict.fromkeys(trials))
        missing = [trial for trial in wanted if self.store.get(trial) is None]
        # Long trials first, so that the last ones to finish are short.
        missing.sort(key=lambda trial: -trial.measure.effort)
        done = len(wanted) - len(missing)
        progress(done, len(wanted))
        for trial in wanted:
            if trial not in missing:
                finished(trial)
        if not missing:
            return
        for name in THREAD_LIMITS:  # read by the processes when they start
            os.environ.setdefault(name, "1")
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(
            PROCESSES, mp_context=context, initializer=_end_with_parent
        ) as pool:
            with _deaf_to_interrupts():
                futures = {pool.submit(_measure, each, self.setting): each for each in missing}
            try:
                for future in as_completed(futures):
                    future.result()
                    done += 1
                    progress(done, len(wanted))
                    finished(futures[future])
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for process in multiprocessing.active_children():
                    process.terminate()  # a result is stored whole or not at all
                raise

    def results(self, trials: Iterable[Trial]) -> Results:
        """The stored rows of finished trials, in the order of the trials."""
        return Results.joined(self.store.get(trial) or [] for trial in trials)


def _end_with_parent() -> None:
    """A process whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes that are started here inherit it: an interrupt is for the one that started them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _measure(trial: Trial, setting: ReproductionSetting) -> None:
    ResultStore(setting.results).put(trial, trial.rows(setting))
