package io.millrace.queues.runner;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a node runs its runners.
 *
 * @param folder where everything about them is kept, also for the next start of the node; for one
 *     node alone
 * @param command how a runner is started
 * @param idle how many idle runners are kept to be used again; 0 for a process of its own for each
 *     task
 * @param lease how long a claim lasts unless its runner renews it
 * @param plugins the plugin folder; null for the built-in plugins alone
 */
public record LocalRunnersOptions(
    Path folder, Command command, int idle, Duration lease, @Nullable Path plugins) {
  /** How long a claim lasts by default: 5 minutes. */
  public static final Duration LEASE = Duration.ofMinutes(5);

  /**
   * How a runner is started.
   *
   * @param program the program and its first arguments, for which the stored {@code task_runner}
   *     may stand instead
   * @param arguments what comes after in both cases; then {@code --socket PATH} and {@code --folder
   *     DIR} are added
   */
  public record Command(List<String> program, List<String> arguments) {
    /** Copies the lists. */
    public Command {
      program = List.copyOf(program);
      arguments = List.copyOf(arguments);
    }

    List<String> with(List<String> otherProgram) {
      List<String> whole = new ArrayList<>(otherProgram.isEmpty() ? program : otherProgram);
      whole.addAll(arguments);
      return whole;
    }
  }

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException when a number is negative or the lease is not positive
   */
  public LocalRunnersOptions {
    if (idle < 0) {
      throw new IllegalArgumentException("the number of idle runners is not negative: " + idle);
    }
    if (!lease.isPositive()) {
      throw new IllegalArgumentException("a lease is positive: " + lease);
    }
    folder = folder.toAbsolutePath().normalize();
    plugins = plugins == null ? null : plugins.toAbsolutePath().normalize();
  }

  /** A process for each task, the usual lease, no plugin folder. */
  public static LocalRunnersOptions in(Path folder, Command command) {
    return new LocalRunnersOptions(folder, command, 0, LEASE, null);
  }

  /** The same, keeping this many idle runners. */
  public LocalRunnersOptions withIdle(int number) {
    return new LocalRunnersOptions(folder, command, number, lease, plugins);
  }

  /** The same with another lease. */
  public LocalRunnersOptions withLease(Duration duration) {
    return new LocalRunnersOptions(folder, command, idle, duration, plugins);
  }

  /** The same with a plugin folder. */
  public LocalRunnersOptions withPlugins(@Nullable Path path) {
    return new LocalRunnersOptions(folder, command, idle, lease, path);
  }
}
