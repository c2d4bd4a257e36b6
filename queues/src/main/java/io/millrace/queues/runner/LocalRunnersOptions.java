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
 * @param warm which runners are kept to be used again
 * @param lease how long a claim lasts unless its runner renews it
 * @param plugins the plugin folder; null for the built-in plugins alone
 */
public record LocalRunnersOptions(
    Path folder, Command command, Warm warm, Duration lease, @Nullable Path plugins) {
  /** How long a claim lasts by default: 5 minutes. */
  public static final Duration LEASE = Duration.ofMinutes(5);

  /** How long an idle runner that is one too many is kept by default: 2 seconds. */
  public static final Duration LINGER = Duration.ofSeconds(2);

  /**
   * How a runner is started.
   *
   * @param program the program and its first arguments, for which the stored {@code task_runner}
   *     may stand instead
   * @param arguments where the server is, which comes after in both cases and is told to runners
   *     that an earlier start has left behind; then {@code --socket PATH} and {@code --folder DIR}
   *     are added
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
   * Which runners are kept.
   *
   * @param idle how many idle ones; 0 for a process of its own for each task
   * @param linger how long those beyond that number are kept, which were started because all others
   *     were at work; default {@link #LINGER}
   */
  public record Warm(int idle, Duration linger) {
    /** Rejects what is negative. */
    public Warm {
      if (idle < 0) {
        throw new IllegalArgumentException("the number of idle runners is not negative: " + idle);
      }
      if (linger.isNegative()) {
        throw new IllegalArgumentException("a time to linger is not negative: " + linger);
      }
    }
  }

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException when the lease is not positive
   */
  public LocalRunnersOptions {
    if (!lease.isPositive()) {
      throw new IllegalArgumentException("a lease is positive: " + lease);
    }
    folder = folder.toAbsolutePath().normalize();
    plugins = plugins == null ? null : plugins.toAbsolutePath().normalize();
  }

  /** A process for each task, the usual lease, no plugin folder. */
  public static LocalRunnersOptions in(Path folder, Command command) {
    return new LocalRunnersOptions(folder, command, new Warm(0, LINGER), LEASE, null);
  }

  /** The same, keeping this many idle runners. */
  public LocalRunnersOptions withIdle(int number) {
    return withWarm(new Warm(number, warm.linger()));
  }

  /** The same, keeping others warm. */
  public LocalRunnersOptions withWarm(Warm other) {
    return new LocalRunnersOptions(folder, command, other, lease, plugins);
  }

  /** The same with another lease. */
  public LocalRunnersOptions withLease(Duration duration) {
    return new LocalRunnersOptions(folder, command, warm, duration, plugins);
  }

  /** The same with a plugin folder. */
  public LocalRunnersOptions withPlugins(@Nullable Path path) {
    return new LocalRunnersOptions(folder, command, warm, lease, path);
  }
}
