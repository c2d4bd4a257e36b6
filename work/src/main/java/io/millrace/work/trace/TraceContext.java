package io.millrace.work.trace;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A place in a trace, as in the headers {@code traceparent} and {@code tracestate} of W3C Trace
 * Context. Immutable.
 *
 * @param traceId the id of the trace: 32 hexadecimal digits in lower case, not all 0
 * @param spanId the id of a span: 16 such digits, not all 0
 * @param sampled whether the spans of the trace are recorded
 * @param state what tracing systems have added, as in {@code tracestate}; empty for nothing
 */
public record TraceContext(String traceId, String spanId, boolean sampled, String state) {
  /** The most characters of a state that is kept; a longer one is dropped. */
  public static final int MAX_STATE = 512;

  private static final int MAX_STATE_MEMBERS = 32;
  private static final HexFormat HEX = HexFormat.of();
  private static final Pattern PARENT =
      Pattern.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?");
  private static final Pattern TRACE_ID = Pattern.compile("(?!0{32})[0-9a-f]{32}");
  private static final Pattern SPAN_ID = Pattern.compile("(?!0{16})[0-9a-f]{16}");
  private static final Pattern MEMBER =
      Pattern.compile(
          "(([a-z][a-z0-9_*/-]{0,255})|([a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13}))"
              + "=[ -+\\--<>-~]{0,255}[!-+\\--<>-~]");

  /**
   * Checks the ids.
   *
   * @throws IllegalArgumentException if one is not as described
   */
  public TraceContext {
    if (!TRACE_ID.matcher(traceId).matches() || !SPAN_ID.matcher(spanId).matches()) {
      throw new IllegalArgumentException(
          "no ids of a trace and a span: " + traceId + ", " + spanId);
    }
  }

  /**
   * Reads the headers of a request, as the recommendation says: a malformed {@code traceparent} is
   * ignored with its {@code tracestate}, and a malformed or very long {@code tracestate} alone.
   *
   * @param parent {@code traceparent}; null for none
   * @param state {@code tracestate}; null for none
   */
  public static Optional<TraceContext> parse(@Nullable String parent, @Nullable String state) {
    if (parent == null) {
      return Optional.empty();
    }
    var fields = PARENT.matcher(parent.strip());
    if (!fields.matches()) {
      return Optional.empty();
    }
    String version = fields.group(1);
    boolean more = fields.group(5) != null;
    if (version.equals("ff")
        || (version.equals("00") && more)
        || !TRACE_ID.matcher(fields.group(2)).matches()
        || !SPAN_ID.matcher(fields.group(3)).matches()) {
      return Optional.empty();
    }
    boolean sampled = (Integer.parseInt(fields.group(4), 16) & 1) == 1;
    return Optional.of(
        new TraceContext(fields.group(2), fields.group(3), sampled, validState(state)));
  }

  private static String validState(@Nullable String state) {
    if (state == null || state.length() > MAX_STATE) {
      return "";
    }
    Set<String> keys = new HashSet<>();
    for (String each : state.split(",", -1)) {
      String member = each.strip();
      if (member.isEmpty()) {
        continue;
      }
      if (!MEMBER.matcher(member).matches()
          || !keys.add(member.substring(0, member.indexOf('=')))
          || keys.size() > MAX_STATE_MEMBERS) {
        return "";
      }
    }
    return keys.isEmpty() ? "" : state.strip();
  }

  /**
   * A new trace.
   *
   * @param ratio how many of all traces are sampled, from 0 to 1; it is decided by the trace id, so
   *     that other processes with the same ratio decide alike
   */
  public static TraceContext start(RandomGenerator random, double ratio) {
    String traceId = HEX.toHexDigits(random.nextLong()) + id(random);
    long last = HexFormat.fromHexDigitsToLong(traceId, 16, 32) & Long.MAX_VALUE;
    return new TraceContext(traceId, id(random), last < ratio * Long.MAX_VALUE || ratio >= 1, "");
  }

  /** The same trace at a span with a new random id. */
  public TraceContext child(RandomGenerator random) {
    return at(id(random));
  }

  private static String id(RandomGenerator random) {
    return HEX.toHexDigits(random.nextLong(1, Long.MAX_VALUE));
  }

  /** The same trace at this span. */
  public TraceContext at(String otherSpanId) {
    return new TraceContext(traceId, otherSpanId, sampled, state);
  }

  /**
   * The span of a piece of work as a whole.
   *
   * @param work names it uniquely, for example {@code task/} and its id
   */
  public TraceContext work(String work) {
    return derived(work, "work");
  }

  /**
   * The span of an attempt at a piece of work. Every process derives the same one.
   *
   * @param token the fencing token of the attempt, or its number
   */
  public TraceContext attempt(String work, long token) {
    return derived(work, "attempt/" + token);
  }

  /** The span of the time before such an attempt. */
  TraceContext waiting(String work, long token) {
    return derived(work, "wait/" + token);
  }

  private TraceContext derived(String work, String span) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256")
              .digest((traceId + "/" + work + "/" + span).getBytes(StandardCharsets.UTF_8));
      // An id of zeros is not allowed.
      hash[0] |= 1;
      return at(HEX.formatHex(hash, 0, Long.BYTES));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** As the header {@code traceparent}: 55 characters. */
  public String parent() {
    return "00-" + traceId + '-' + spanId + (sampled ? "-01" : "-00");
  }

  /** The headers {@code traceparent} and, if there is a state, {@code tracestate}. */
  public Map<String, String> headers() {
    Map<String, String> headers = new TreeMap<>();
    environment().forEach((name, value) -> headers.put(name.toLowerCase(Locale.ROOT), value));
    return headers;
  }

  /** The variables {@code TRACEPARENT} and, if there is a state, {@code TRACESTATE} of programs. */
  public Map<String, String> environment() {
    Map<String, String> variables = new TreeMap<>();
    variables.put("TRACEPARENT", parent());
    if (!state.isEmpty()) {
      variables.put("TRACESTATE", state);
    }
    return variables;
  }

  /**
   * As {@link #read} reads it: {@code traceparent}, and the state after a space if there is one.
   */
  public String write() {
    return state.isEmpty() ? parent() : parent() + " " + state;
  }

  /**
   * Reads what {@link #write} has written.
   *
   * @param text null for none
   */
  public static @Nullable TraceContext read(@Nullable String text) {
    if (text == null) {
      return null;
    }
    int space = text.indexOf(' ');
    return parse(
            space < 0 ? text : text.substring(0, space),
            space < 0 ? null : text.substring(space + 1))
        .orElse(null);
  }
}
