package io.millrace.graph.type;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.blobs.Tail;
import io.millrace.graph.Kill;
import io.millrace.graph.type.Attempt.Failure;
import io.millrace.graph.type.ProgramForm.Program;
import io.millrace.processes.ExitStatus;
import io.millrace.processes.Output;
import io.millrace.processes.OutputTail;
import io.millrace.processes.ProcessException;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.ProcessSpawner;
import io.millrace.processes.ProcessSpec;
import io.millrace.processes.RunningProcess;
import io.millrace.processes.Signal;
import io.millrace.work.policy.RetryPolicy;
import io.millrace.work.policy.StatusText;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs programs for attempts.
 *
 * @param launcher finds them again
 * @param spawner starts them
 */
record Programs(ProcessLauncher launcher, ProcessSpawner spawner) {
  static final String NODE_ID = "MILLRACE_NODE_ID";

  /** The variable with the number of the attempt, from 1. */
  static final String ATTEMPT = "MILLRACE_ATTEMPT";

  /** The variable with the file in which a program says when it is to be tried again. */
  static final String STATUS_FILE = "MILLRACE_STATUS_FILE";

  /** Starts a program in a folder of its own. */
  RunningProcess start(AttemptContext context, Program program, Path folder, Output output) {
    Map<String, String> environment = new HashMap<>(program.environment());
    // Last, so that a node cannot act for another one.
    environment.putAll(context.environment());
    environment.put(NODE_ID, context.id().toString());
    environment.put(ATTEMPT, Integer.toString(context.attempt()));
    ProcessSpec spec =
        new ProcessSpec(program.command(), environment, program.directory(), folder, output);
    return spawner.start(spec, new ByteArrayInputStream(program.stdin().getBytes(UTF_8)));
  }

  /** Finds a program again that was started; empty if none was started, or ever will be. */
  Optional<RunningProcess> find(Path folder) {
    return launcher
        .find(folder)
        .filter(process ->
            !(process.onExit().getNow(new ExitStatus.Unknown())
                instanceof ExitStatus.NeverStarted));
  }

  /** Begins an attempt that is one program, in the folder of the attempt. */
  Attempt start(AttemptContext context, Program program, IntFunction<Attempt.Ending> ending) {
    Map<String, String> environment = new HashMap<>(context.environment());
    environment.put(STATUS_FILE, statusFile(context).toString());
    AttemptContext more =
        new AttemptContext(
            context.id(), context.attempt(), context.inputs(), context.folder(), environment);
    RunningProcess process = start(more, program, context.folder(), Output.ALL);
    return attempt(process, statusFile(context), ending);
  }

  /** Finds such an attempt again. */
  Optional<Attempt> resume(AttemptContext context, IntFunction<Attempt.Ending> ending) {
    return find(context.folder()).map(process -> attempt(process, statusFile(context), ending));
  }

  private static Path statusFile(AttemptContext context) {
    return context.folder().resolve("status");
  }

  /**
   * The attempt that runs a process.
   *
   * @param ending the ending that follows from its exit code, if it has written no status
   */
  private Attempt attempt(
      RunningProcess process, Path statusFile, IntFunction<Attempt.Ending> ending) {
    return new ProcessAttempt(
        process,
        status ->
            status instanceof ExitStatus.Exited(int code)
                ? said(statusFile, code, ending.apply(code))
                : Attempt.Ending.interrupted(lost(process)));
  }

  /** The ending of a program that may have asked to be put off, or to be tried again later. */
  private static Attempt.Ending said(Path statusFile, int code, Attempt.Ending silent) {
    String text;
    try {
      text = Files.readString(statusFile, StandardCharsets.ISO_8859_1);
    } catch (NoSuchFileException _) {
      return silent;
    } catch (IOException e) {
      return new Attempt.Ending(
          Failure.of("the status file cannot be read: " + e), null, silent.values());
    }
    StatusText said = StatusText.parse(text).orElse(null);
    Failure failure;
    if (said == null || said.status() != StatusText.FAILED) {
      failure =
          Failure.of(
              "the status file says \""
                  + StatusText.shown(text)
                  + "\", neither snooze nor 2, each with a delay");
    } else if (said.snoozes() && said.delay() != null) {
      failure = new Failure.Snoozed(said.delay());
    } else {
      String reason = code == 0 ? "it says that it failed" : CommandType.failure(code);
      failure =
          new Failure.Failed(
              reason,
              new RetryPolicy.Failed(code == 0 ? null : Integer.toString(code), said.delay()));
    }
    return new Attempt.Ending(failure, null, silent.values());
  }

  /** Why the end of a process is unknown. */
  private String lost(RunningProcess process) {
    return launcher.isOfThisBoot(process.identity())
        ? "its process is gone, and what records exit codes was ended with it"
        : "the machine was restarted while it ran";
  }

  /** An attempt that is one process. */
  static final class ProcessAttempt implements Attempt {
    static final String RESULT = "result";
    static final String STDOUT = "stdout";
    static final String STDERR = "stderr";
    static final String MIXED = "mixedout";

    /** The keys that such an attempt writes. */
    static final Set<String> OUTPUTS = Set.of(RESULT, STDOUT, STDERR, MIXED);

    private final RunningProcess process;
    private final Map<String, Tail> recordings;
    private final CompletableFuture<Ending> end;

    /** The end of the process group; null until it is killed. */
    private final AtomicReference<@Nullable CompletableFuture<ExitStatus>> killing =
        new AtomicReference<>();

    ProcessAttempt(RunningProcess process, Function<ExitStatus, Ending> reading) {
      this.process = process;
      this.recordings =
          Map.of(
              STDOUT, ProgramTail.of(process.output(Output.Kind.STDOUT)),
              STDERR, ProgramTail.of(process.output(Output.Kind.STDERR)),
              MIXED, ProgramTail.of(process.output(Output.Kind.MIXED)));
      // Processes that a killed program has left end before the attempt does.
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
      // Recorded before the signal, which may end the program at once.
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

    /** Ends a process as requested by a kill. */
    static CompletableFuture<ExitStatus> end(RunningProcess process, Kill kill) {
      return process.terminate(Signal.of(kill.signal()).orElse(Signal.TERM), kill.grace());
    }

    @Override
    public Map<String, Tail> recordings() {
      return recordings;
    }
  }

  /**
   * The output of a program as data of a node. Once it is stored elsewhere, its file is removed,
   * possibly while it is being read; it is empty then.
   *
   * @param source the output; null while there is none
   */
  record ProgramTail(Supplier<@Nullable OutputTail> source) implements Tail {
    static ProgramTail of(OutputTail output) {
      return new ProgramTail(() -> output);
    }

    @Override
    public long size() {
      OutputTail output = source.get();
      return output == null ? 0 : output.size();
    }

    @Override
    public byte[] read(long offset, int most) {
      OutputTail output = source.get();
      return output == null
          ? new byte[0]
          : output.read(offset, Math.min(most, OutputTail.MAX_READ));
    }
  }
}
