package io.millrace.graph.type;

import io.millrace.blobs.Tail;
import io.millrace.graph.Kill;
import io.millrace.processes.ExitStatus;
import io.millrace.processes.Output;
import io.millrace.processes.ProcessException;
import io.millrace.processes.RunningProcess;
import io.millrace.processes.Signal;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An attempt that is one process. */
final class ProcessAttempt implements Attempt {
  static final String RESULT = "result";
  static final String STDOUT = "stdout";
  static final String STDERR = "stderr";
  static final String MIXED = "mixedout";

  /** The keys that such an attempt writes. */
  static final Set<String> OUTPUTS = Set.of(RESULT, STDOUT, STDERR, MIXED);

  private final RunningProcess process;
  private final Map<String, Tail> recordings;
  private final CompletableFuture<Ending> end;

  /** What ends the group; null while nobody wants that. */
  private final AtomicReference<@Nullable CompletableFuture<ExitStatus>> killing =
      new AtomicReference<>();

  ProcessAttempt(RunningProcess process, Function<ExitStatus, Ending> reading) {
    this.process = process;
    this.recordings =
        Map.of(
            STDOUT, ProgramTail.of(process.output(Output.Kind.STDOUT)),
            STDERR, ProgramTail.of(process.output(Output.Kind.STDERR)),
            MIXED, ProgramTail.of(process.output(Output.Kind.MIXED)));
    // What a killed program has left behind ends before the attempt does.
    this.end =
        process
            .onExit()
            .thenCompose(status -> {
              CompletableFuture<ExitStatus> kill = killing.get();
              return kill == null ? CompletableFuture.completedFuture(status) : kill;
            })
            .thenApply(reading);
  }

  @Override
  public CompletableFuture<Ending> onEnd() {
    return end.copy();
  }

  @Override
  public void kill(Kill kill) {
    if (end.isDone()) {
      return;
    }
    // On record before the signal, which may end the program at once.
    CompletableFuture<ExitStatus> over = new CompletableFuture<>();
    CompletableFuture<ExitStatus> before = killing.getAndSet(over);
    try {
      follow(end(process, kill), over);
    } catch (ProcessException e) {
      follow(before == null ? process.onExit() : before, over);
      throw e;
    }
  }

  private static void follow(
      CompletableFuture<ExitStatus> first, CompletableFuture<ExitStatus> second) {
    var _ =
        first.whenComplete((status, problem) -> {
          if (problem == null) {
            second.complete(status);
          } else {
            second.completeExceptionally(problem);
          }
        });
  }

  /** Ends a process as a kill says. */
  static CompletableFuture<ExitStatus> end(RunningProcess process, Kill kill) {
    return process.terminate(Signal.of(kill.signal()).orElse(Signal.TERM), kill.grace());
  }

  @Override
  public Map<String, Tail> recordings() {
    return recordings;
  }
}
