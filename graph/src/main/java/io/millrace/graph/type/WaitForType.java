package io.millrace.graph.type;

import io.millrace.blobs.Tail;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.Kill;
import io.millrace.graph.type.ProgramForm.Program;
import io.millrace.graph.type.Programs.ProcessAttempt;
import io.millrace.graph.type.Programs.ProgramTail;
import io.millrace.graph.type.StandardTypes.Timer;
import io.millrace.processes.ExitStatus;
import io.millrace.processes.FileTree;
import io.millrace.processes.Output;
import io.millrace.processes.OutputTail;
import io.millrace.processes.RunningProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Nodes that wait until a file exists, a port accepts connections, a program succeeds or a time has
 * come.
 */
record WaitForType(Programs programs, InstantSource clock, Timer timer) implements NodeType {
  static final String NAME = "wait for";
  static final Set<String> OUTPUTS = Set.of(ProcessAttempt.MIXED);

  private static final String FILE = "file";
  private static final String PORT = "port";
  private static final String TIME = "time";
  private static final String INTERVAL = "interval";
  private static final List<String> ONE_OF =
      List.of(FILE, PORT, TIME, ProgramForm.COMMAND, ProgramForm.SHELL);
  private static final long LEAST_INTERVAL_MILLIS = 100;
  private static final long MAX_INTERVAL_MILLIS = Duration.ofDays(1).toMillis();
  private static final long QUICK_INTERVAL_MILLIS = 1_000;
  private static final long TRY_INTERVAL_MILLIS = 5_000;
  private static final Duration CLOCK_INTERVAL = Duration.ofMinutes(1);
  private static final int MAX_PORT = 65_535;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Set<String> inputs() {
    return ProgramForm.keysWith(FILE, PORT, TIME, INTERVAL);
  }

  @Override
  public Set<String> outputs() {
    return OUTPUTS;
  }

  @Override
  public void check(Map<String, JsonNode> values) {
    Inputs inputs = new Inputs(values);
    inputs.onlyWith(ProgramForm.ARGS, ProgramForm.COMMAND);
    interval(inputs, 0);
    switch (inputs.only(ONE_OF)) {
      case FILE -> ProgramForm.absolute(FILE, inputs.text(FILE));
      case PORT -> Address.of(inputs.text(PORT));
      case TIME -> timeMillis(inputs);
      default -> ProgramForm.either(inputs);
    }
    RunPolicy.of(values);
  }

  @Override
  public Attempt start(AttemptContext context) {
    ProbeAttempt attempt = new ProbeAttempt(look(context), timer);
    attempt.begin();
    return attempt;
  }

  private Probe look(AttemptContext context) {
    Inputs inputs = new Inputs(context.inputs());
    Duration quick = interval(inputs, QUICK_INTERVAL_MILLIS);
    return switch (inputs.only(ONE_OF)) {
      case FILE -> SimpleProbe.file(ProgramForm.absolute(FILE, inputs.text(FILE)), quick);
      case PORT -> {
        Address address = Address.of(inputs.text(PORT));
        yield SimpleProbe.port(address.host(), address.port(), quick);
      }
      case TIME -> SimpleProbe.time(timeMillis(inputs), CLOCK_INTERVAL, clock);
      default ->
          new ProgramProbe(
              programs, context, ProgramForm.either(inputs), interval(inputs, TRY_INTERVAL_MILLIS));
    };
  }

  private static Duration interval(Inputs inputs, long otherwise) {
    return Duration.ofMillis(
        inputs.millis(INTERVAL, LEAST_INTERVAL_MILLIS, MAX_INTERVAL_MILLIS).orElse(otherwise));
  }

  private static long timeMillis(Inputs inputs) {
    JsonNode value = inputs.value(TIME);
    if (value != null && value.isIntegralNumber() && value.canConvertToLong()) {
      return value.longValue();
    }
    try {
      return OffsetDateTime.parse(inputs.text(TIME)).toInstant().toEpochMilli();
    } catch (DateTimeException | ArithmeticException e) {
      throw new InvalidGraphException(
          "time must be as in 2030-01-31T08:00:00Z or a number of milliseconds since 1970, not "
              + inputs.text(TIME));
    }
  }

  /** An address to connect to. */
  private record Address(String host, int port) {
    static Address of(String text) {
      int colon = text.lastIndexOf(':');
      String digits = text.substring(colon + 1);
      if (colon > 0 && digits.matches("\\d{1,5}")) {
        int port = Integer.parseInt(digits);
        String host = text.substring(0, colon);
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        if (port >= 1 && port <= MAX_PORT && (bracketed || host.indexOf(':') < 0)) {
          return new Address(bracketed ? host.substring(1, host.length() - 1) : host, port);
        }
      }
      throw new InvalidGraphException("port must be as in localhost:8080, not \"" + text + "\"");
    }
  }

  /** An attempt that checks a condition until it holds. */
  private static final class ProbeAttempt implements Attempt {
    private final Probe look;
    private final Timer timer;
    private final CompletableFuture<Ending> end = new CompletableFuture<>();
    private int looked;

    ProbeAttempt(Probe look, Timer timer) {
      this.look = look;
      this.timer = timer;
    }

    /** Checks for the first time, at once; one check ends before the next begins. */
    void begin() {
      if (end.isDone()) {
        return;
      }
      looked++;
      try {
        var _ = look.once().whenComplete(this::seen);
      } catch (RuntimeException | Error e) {
        // Errors too: this may be a thread of its own, and nothing else would look again.
        seen(null, e);
      }
    }

    private void seen(@Nullable Boolean holds, @Nullable Throwable problem) {
      if (problem != null) {
        Throwable inner = problem instanceof CompletionException ? problem.getCause() : null;
        String reason = String.valueOf((inner == null ? problem : inner).getMessage());
        end.complete(Ending.failed(reason));
      } else if (Boolean.TRUE.equals(holds)) {
        end.complete(Ending.succeeded(Map.of()));
      } else {
        timer.after(look.pause(looked), this::begin);
      }
    }

    @Override
    public CompletableFuture<Ending> onEnd() {
      return end.copy();
    }

    @Override
    public void kill(Kill kill) {
      Ending ended = Ending.failed("it was ended while it waited");
      var _ = look.end(kill).whenComplete((_, _) -> end.complete(ended));
    }

    @Override
    public Map<String, Tail> recordings() {
      return look.recordings();
    }
  }

  /** A condition outside the graph that a node waits for, checked now and then. */
  private interface Probe {
    /**
     * Checks once; may block for some seconds.
     *
     * @return whether it holds; fails if it never will, with a message for people
     */
    CompletableFuture<Boolean> once();

    /**
     * How long to wait before the next check.
     *
     * @param looked the number of checks so far, from 1
     */
    Duration pause(int looked);

    /** Ends a current check; completed when nothing is left of it. */
    default CompletableFuture<?> end(Kill kill) {
      return CompletableFuture.completedFuture(true);
    }

    /** The output of its checks. */
    default Map<String, Tail> recordings() {
      return Map.of();
    }
  }

  /**
   * A cheap check, so that the first ones follow each other quickly.
   *
   * @param holds the check
   * @param longest the longest pause
   */
  private record SimpleProbe(BooleanSupplier holds, Duration longest) implements Probe {
    private static final long FIRST_PAUSE_MILLIS = 50;
    private static final int CONNECT_MILLIS = 5_000;

    /** Checks whether a file or folder exists. */
    static Probe file(Path file, Duration interval) {
      return new SimpleProbe(() -> Files.exists(file), interval);
    }

    /** Checks whether a port accepts connections. */
    static Probe port(String host, int port, Duration interval) {
      return new SimpleProbe(
          () -> {
            try (Socket socket = new Socket()) {
              // Resolved each time, since a name may become known.
              socket.connect(new InetSocketAddress(host, port), CONNECT_MILLIS);
              return true;
            } catch (IOException e) {
              return false;
            }
          },
          interval);
    }

    /** Checks whether a time has come; there is no earlier check, unless the clock is set. */
    static Probe time(long atMillis, Duration longest, InstantSource clock) {
      return new Probe() {
        @Override
        public CompletableFuture<Boolean> once() {
          return CompletableFuture.completedFuture(clock.millis() >= atMillis);
        }

        @Override
        public Duration pause(int looked) {
          long left = Math.max(1, atMillis - clock.millis());
          return Duration.ofMillis(Math.min(left, longest.toMillis()));
        }
      };
    }

    @Override
    public CompletableFuture<Boolean> once() {
      return CompletableFuture.completedFuture(holds.getAsBoolean());
    }

    @Override
    public Duration pause(int looked) {
      long doubled = FIRST_PAUSE_MILLIS << Math.min(looked - 1, 30);
      return Duration.ofMillis(Math.min(doubled, longest.toMillis()));
    }
  }

  /** Runs a program again and again until it succeeds; the output of the last run is kept. */
  private static final class ProgramProbe implements Probe {
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

    /** Begins a run, or finds the one that an earlier server began; null once it is ended. */
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
}
