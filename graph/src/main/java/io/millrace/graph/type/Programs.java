package io.millrace.graph.type;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.processes.ExitStatus;
import io.millrace.processes.Output;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.ProcessSpawner;
import io.millrace.processes.ProcessSpec;
import io.millrace.processes.RunningProcess;
import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * Runs programs for attempts.
 *
 * @param launcher finds them again
 * @param spawner starts them
 */
record Programs(ProcessLauncher launcher, ProcessSpawner spawner) {
  /** The variable with the node's id. */
  static final String NODE_ID = "MILLRACE_NODE_ID";

  /** The variable with the number of the attempt, from 1. */
  static final String ATTEMPT = "MILLRACE_ATTEMPT";

  /** Begins one, in a folder of its own. */
  RunningProcess start(AttemptContext context, Program program, Path folder, Output output) {
    Map<String, String> environment = new HashMap<>(program.environment());
    // Last, so that no node can take another's place.
    environment.putAll(context.environment());
    environment.put(NODE_ID, context.id().toString());
    environment.put(ATTEMPT, Integer.toString(context.attempt()));
    ProcessSpec spec =
        new ProcessSpec(program.command(), environment, program.directory(), folder, output);
    return spawner.start(spec, new ByteArrayInputStream(program.stdin().getBytes(UTF_8)));
  }

  /** Finds one again that has begun; empty when none has, or ever will. */
  Optional<RunningProcess> find(Path folder) {
    return launcher
        .find(folder)
        .filter(process ->
            !(process.onExit().getNow(new ExitStatus.Unknown())
                instanceof ExitStatus.NeverStarted));
  }

  /**
   * The attempt that a process is.
   *
   * @param ending what its exit code says
   */
  Attempt attempt(RunningProcess process, IntFunction<Attempt.Ending> ending) {
    return new ProcessAttempt(
        process,
        status ->
            status instanceof ExitStatus.Exited(int code)
                ? ending.apply(code)
                : new Attempt.Ending(lost(process), null, Map.of()));
  }

  /** Why nobody knows how a process ended. */
  private String lost(RunningProcess process) {
    return launcher.isOfThisBoot(process.identity())
        ? "its process is gone, and what records exit codes was ended with it"
        : "the machine was restarted while it ran";
  }
}
