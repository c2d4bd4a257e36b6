package io.millrace.graph.type;

import io.millrace.graph.Definition.Kind;
import io.millrace.graph.type.Programs.ProcessAttempt;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.ProcessSpawner;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import tools.jackson.databind.JsonNode;

/**
 * The types that need nothing but this machine: {@code command}, {@code shell command}, {@code
 * condition}, {@code wait for} and {@code group}. docs/graph.md says which data each of them reads
 * and writes. Safe for use by any number of threads.
 */
public final class StandardTypes implements AutoCloseable {
  /** The name of the type of groups. */
  public static final String GROUP = "group";

  private final List<NodeType> types;
  private final ProcessSpawner spawner;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Uses the system's clock. */
  public StandardTypes(ProcessLauncher launcher) {
    this(launcher, InstantSource.system(), Timer.VIRTUAL);
  }

  /**
   * Uses this clock.
   *
   * @param launcher starts programs
   * @param clock says when a time has come
   * @param timer repeats the checks of waiting nodes
   */
  public StandardTypes(ProcessLauncher launcher, InstantSource clock, Timer timer) {
    this.spawner = launcher.spawner();
    Programs programs = new Programs(launcher, spawner);
    Timer whileOpen =
        (pause, task) ->
            timer.after(
                pause,
                () -> {
                  if (!closed.get()) {
                    task.run();
                  }
                });
    this.types =
        List.of(
            CommandType.command(programs),
            CommandType.shell(programs),
            new ConditionType(programs),
            new WaitForType(programs, clock, whileOpen),
            new GroupType());
  }

  /** The keys of data that nodes of these types write, by the names of the types. */
  public static Map<String, Set<String>> outputs() {
    return Map.of(
        CommandType.COMMAND,
        ProcessAttempt.OUTPUTS,
        CommandType.SHELL,
        ProcessAttempt.OUTPUTS,
        ConditionType.NAME,
        ProcessAttempt.OUTPUTS,
        WaitForType.NAME,
        WaitForType.OUTPUTS,
        GROUP,
        Set.of());
  }

  /** All types. */
  public List<NodeType> types() {
    return types;
  }

  /** Ends the checks of waiting nodes; running programs go on. */
  @Override
  public void close() {
    closed.set(true);
    spawner.close();
  }

  /** Runs tasks later. Safe for use by any number of threads. */
  @FunctionalInterface
  public interface Timer {
    /** Runs each task in a virtual thread of its own, which may block. */
    Timer VIRTUAL =
        (pause, task) ->
            CompletableFuture.delayedExecutor(
                    pause.toMillis(), TimeUnit.MILLISECONDS, Thread.ofVirtual()::start)
                .execute(task);

    /** Runs {@code task} when {@code pause} is over, in another thread. */
    void after(Duration pause, Runnable task);
  }

  /** Groups of nodes. The graph starts and ends them itself. */
  private static final class GroupType implements NodeType {
    @Override
    public String name() {
      return GROUP;
    }

    @Override
    public Kind kind() {
      return Kind.GROUP;
    }

    @Override
    public Set<String> inputs() {
      return RunPolicy.keysOfGroups();
    }

    @Override
    public void check(Map<String, JsonNode> inputs) {
      RunPolicy.checkGroup(inputs);
    }

    @Override
    public Attempt start(AttemptContext context) {
      throw new IllegalStateException("a group does nothing itself");
    }
  }
}
