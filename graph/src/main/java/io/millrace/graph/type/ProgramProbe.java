package io.millrace.graph.type;

import io.millrace.blobs.Tail;
import io.millrace.graph.Kill;
import io.millrace.processes.ExitStatus;
import io.millrace.processes.FileTree;
import io.millrace.processes.Output;
import io.millrace.processes.OutputTail;
import io.millrace.processes.RunningProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Whether a program succeeds, tried again and again; the output of the last try is kept. */
final class ProgramProbe implements Probe {
  private final Programs programs;
  private final AttemptContext context;
  private final Program program;
  private final Duration interval;
  private final Map<String, Tail> recordings =
      Map.of(ProcessAttempt.MIXED, new ProgramTail(this::output));
  private volatile @Nullable RunningProcess current;
  private boolean ended;

  ProgramProbe(Programs programs, AttemptContext context, Program program, Duration interval) {
    this.programs = programs;
    this.context = context;
    this.program = program;
    this.interval = interval;
  }

  @Override
  public CompletableFuture<Boolean> once() {
    RunningProcess process = begin();
    return process == null
        ? CompletableFuture.completedFuture(false)
        : process.onExit().thenApply(new ExitStatus.Exited(0)::equals);
  }

  /** Begins a try, or finds again the one that an earlier server began; null once it is ended. */
  private synchronized @Nullable RunningProcess begin() {
    if (ended) {
      return null;
    }
    Path folder = context.folder().resolve("try");
    Optional<RunningProcess> found = current == null ? programs.find(folder) : Optional.empty();
    if (found.isEmpty()) {
      try {
        FileTree.remove(folder);
      } catch (IOException e) {
        throw new UncheckedIOException("what the last try left cannot be removed: " + e, e);
      }
    }
    RunningProcess process =
        found.orElseGet(() -> programs.start(context, program, folder, Output.MIXED));
    current = process;
    return process;
  }

  @Override
  public synchronized CompletableFuture<?> end(Kill kill) {
    ended = true;
    RunningProcess process = current;
    return process == null
        ? CompletableFuture.completedFuture(true)
        : ProcessAttempt.end(process, kill);
  }

  @Override
  public Duration pause(int looked) {
    return interval;
  }

  @Override
  public Map<String, Tail> recordings() {
    return recordings;
  }

  private @Nullable OutputTail output() {
    RunningProcess process = current;
    return process == null ? null : process.output(Output.Kind.MIXED);
  }
}
