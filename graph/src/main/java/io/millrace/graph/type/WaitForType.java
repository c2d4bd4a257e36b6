package io.millrace.graph.type;

import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.Kind;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Nodes that wait until a file is there, a port answers, a program succeeds or a time has come. */
final class WaitForType implements NodeType {
  private static final String FILE = "file";
  private static final String PORT = "port";
  private static final String TIME = "time";
  private static final String INTERVAL = "interval";
  private static final List<String> ONE_OF =
      List.of(FILE, PORT, TIME, ProgramForm.COMMAND, ProgramForm.SHELL);
  private static final long LEAST_INTERVAL_MILLIS = 100;
  private static final long MOST_INTERVAL_MILLIS = Duration.ofDays(1).toMillis();
  private static final long QUICK_INTERVAL_MILLIS = 1_000;
  private static final long TRY_INTERVAL_MILLIS = 5_000;
  private static final Duration CLOCK_INTERVAL = Duration.ofMinutes(1);
  private static final int MOST_PORT = 65_535;

  private final Programs programs;
  private final InstantSource clock;
  private final Timer timer;

  WaitForType(Programs programs, InstantSource clock, Timer timer) {
    this.programs = programs;
    this.clock = clock;
    this.timer = timer;
  }

  @Override
  public String name() {
    return "wait for";
  }

  @Override
  public Kind kind() {
    return Kind.WORK;
  }

  @Override
  public Set<String> inputs() {
    return ProgramForm.keysWith(FILE, PORT, TIME, INTERVAL);
  }

  @Override
  public Set<String> outputs() {
    return Set.of(ProcessAttempt.MIXED);
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

  /** Looking again does no harm; a program that still runs is found by {@link ProgramProbe}. */
  @Override
  public Optional<Attempt> resume(AttemptContext context) {
    return Optional.of(start(context));
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
        inputs.millis(INTERVAL, LEAST_INTERVAL_MILLIS, MOST_INTERVAL_MILLIS).orElse(otherwise));
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

  /** Where somebody may answer. */
  private record Address(String host, int port) {
    static Address of(String text) {
      int colon = text.lastIndexOf(':');
      String digits = text.substring(colon + 1);
      if (colon > 0 && digits.matches("\\d{1,5}")) {
        int port = Integer.parseInt(digits);
        String host = text.substring(0, colon);
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        if (port >= 1 && port <= MOST_PORT && (bracketed || host.indexOf(':') < 0)) {
          return new Address(bracketed ? host.substring(1, host.length() - 1) : host, port);
        }
      }
      throw new InvalidGraphException("port must be as in localhost:8080, not \"" + text + "\"");
    }
  }
}
