package io.millrace.schedules;

import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import io.millrace.store.Sha256;
import io.millrace.work.policy.TimeText;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a schedule is: which times it names, and what to do at each of them. Immutable.
 *
 * @param name its name, 1 to 100 letters, digits, dots, dashes and underscores
 * @param times its nominal times
 * @param jitter each run comes up to this much later than its nominal time; zero for none
 * @param missed what becomes of times that have passed unnoticed, for example while no server ran
 * @param window how far back missed runs are caught up, if all are
 * @param overlap what to do if a run is due while an earlier one has not ended
 * @param pauseAfter after how many failures in a row it pauses; 0 for never
 * @param target what runs, as the target reads it
 * @param form its JSON form, complete, as it is stored and shown; not to be changed
 */
public record Schedule(
    String name,
    Timetable times,
    Duration jitter,
    Missed missed,
    Duration window,
    Overlap overlap,
    int pauseAfter,
    ObjectNode target,
    ObjectNode form) {

  /** What becomes of runs that were not started in time. */
  public enum Missed {
    /** None is started later. */
    NONE,
    /** The last one is. */
    LAST,
    /** All are that lie within the window. */
    ALL
  }

  /** What to do if a run is due while an earlier one has not ended. */
  public enum Overlap {
    /** The later run is left out. */
    SKIP,
    /** One run waits for the end of the earlier one; further ones are left out. */
    QUEUE_ONE,
    /** Up to 1,000 runs wait, and start one after the other. */
    QUEUE_ALL,
    /** The earlier run is cancelled; the later one starts when it has ended. */
    CANCEL,
    /** The later run starts beside the earlier one. */
    ALLOW
  }

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,100}");
  private static final Duration LONGEST_JITTER = Duration.ofDays(1);
  private static final Duration LONGEST_WINDOW = Duration.ofDays(31);
  private static final Duration DEFAULT_WINDOW = Duration.ofHours(1);
  private static final int MAX_FAILURES = 1_000_000;

  /** The fields of the form of a schedule. */
  public static final Set<String> FIELDS =
      Set.of(
          "times",
          "except",
          "zone",
          "jitter",
          "missed",
          "window",
          "overlap",
          "pause_after_failures",
          "target");

  /**
   * When a run of a nominal time is due. The delay depends on the schedule and the time alone, so
   * that it is the same after a restart and on every server.
   */
  public Instant due(Instant nominal) {
    if (jitter.isZero()) {
      return nominal;
    }
    byte[] seed = (name + '@' + nominal.toEpochMilli()).getBytes(StandardCharsets.UTF_8);
    long drawn = ByteBuffer.wrap(Sha256.begin().digest(seed)).getLong();
    return nominal.plusMillis(Long.remainderUnsigned(drawn, jitter.toMillis() + 1));
  }

  /**
   * Checks a name.
   *
   * @throws InvalidScheduleException if it is not the name of a schedule
   */
  static void checkName(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new InvalidScheduleException(
          "name",
          "the name of a schedule has 1 to 100 letters, digits, dots, dashes and underscores");
    }
  }

  /**
   * Reads a schedule from its JSON form.
   *
   * @param given what a person wrote, or a complete form
   * @param anchor from when intervals without a {@code from} count
   * @throws InvalidScheduleException if it is not valid, with the field that is wrong
   */
  static Schedule read(String name, ObjectNode given, Instant anchor) {
    checkName(name);
    checkFields("a schedule", given, FIELDS);
    String zoneName = text(given, "zone", "UTC");
    ZoneId zone = TimeRule.zone(zoneName);
    ObjectNode form = given.objectNode();
    List<TimeRule> rules = rules(given, "times", zone, anchor, form);
    List<TimeRule> exclusions =
        given.has("except") ? rules(given, "except", zone, anchor, form) : List.of();
    form.put("zone", zoneName);
    Timetable times = new Timetable(rules, exclusions);
    Duration jitter = duration(given, "jitter", Duration.ZERO, LONGEST_JITTER);
    form.put("jitter", text(given, "jitter", "0s"));
    Missed missed = choice(given, "missed", Missed.class, Missed.LAST);
    form.put("missed", shown(missed));
    Duration window = duration(given, "window", DEFAULT_WINDOW, LONGEST_WINDOW);
    form.put("window", text(given, "window", "1h"));
    Overlap overlap = choice(given, "overlap", Overlap.class, Overlap.SKIP);
    form.put("overlap", shown(overlap));
    JsonNode failures = given.path("pause_after_failures");
    if (!failures.isMissingNode()
        && !(failures.isInt() && failures.asInt() >= 0 && failures.asInt() <= MAX_FAILURES)) {
      throw new InvalidScheduleException(
          "pause_after_failures",
          "pause_after_failures is a whole number from 0 (never) to 1,000,000, not " + failures);
    }
    int pauseAfter = failures.asInt(0);
    form.put("pause_after_failures", pauseAfter);
    if (!(given.get("target") instanceof ObjectNode target)) {
      throw new InvalidScheduleException(
          "target", "a schedule needs a target, for example {\"queue\": \"NAME\", \"params\": {}}");
    }
    form.set("target", target.deepCopy());
    return new Schedule(
        name, times, jitter, missed, window, overlap, pauseAfter, target.deepCopy(), form);
  }

  private static List<TimeRule> rules(
      ObjectNode given, String field, ZoneId zone, Instant anchor, ObjectNode form) {
    boolean excludes = field.equals("except");
    if (!(given.get(field) instanceof ArrayNode array)) {
      throw new InvalidScheduleException(
          field, field + " is an array of rules, for example [{\"cron\": \"0 9 * * MON-FRI\"}]");
    }
    List<TimeRule> rules = new ArrayList<>();
    ArrayNode complete = form.putArray(field);
    for (JsonNode each : array) {
      if (!(each instanceof ObjectNode rule)) {
        throw new InvalidScheduleException(field, "each rule of " + field + " is an object");
      }
      ObjectNode full = rule.deepCopy();
      try {
        rules.add(rule(rule, zone, anchor, excludes, full));
      } catch (InvalidScheduleException e) {
        String where = "%s[%d].%s".formatted(field, rules.size(), e.field());
        throw new InvalidScheduleException(where, String.valueOf(e.getMessage()));
      }
      complete.add(full);
    }
    return rules;
  }

  private static TimeRule rule(
      ObjectNode rule, ZoneId zone, Instant anchor, boolean excludes, ObjectNode full) {
    if (Stream.of("cron", "every", "at").filter(rule::has).count() != 1) {
      throw new InvalidScheduleException("", "a rule has one of the fields cron, every and at");
    }
    ZoneId own = rule.has("zone") ? TimeRule.zone(text(rule, "zone", "UTC")) : zone;
    if (rule.has("cron")) {
      checkFields("a rule with cron", rule, Set.of("cron", "zone"));
      return TimeRule.cron(text(rule, "cron", ""), own);
    }
    if (rule.has("every")) {
      checkFields("a rule with every", rule, Set.of("every", "from"));
      Instant from = anchor;
      if (rule.has("from")) {
        TimeRule listed = TimeRule.at(List.of(text(rule, "from", "")), own, false);
        from = listed.next(Instant.MIN);
      }
      full.put("from", String.valueOf(from));
      Duration every = duration(rule, "every", Duration.ZERO, TimeRule.LONGEST);
      return TimeRule.every(every, from == null ? anchor : from);
    }
    checkFields("a rule with at", rule, Set.of("at", "zone"));
    if (!(rule.get("at") instanceof ArrayNode array)) {
      throw new InvalidScheduleException("at", "at is an array of times");
    }
    List<String> times = new ArrayList<>();
    for (JsonNode time : array) {
      if (!time.isString()) {
        throw new InvalidScheduleException("at", "each time is a string, not " + time);
      }
      times.add(time.asString());
    }
    return TimeRule.at(times, own, excludes);
  }

  private static void checkFields(String what, ObjectNode object, Set<String> known) {
    for (String field : object.propertyNames()) {
      if (!known.contains(field)) {
        throw new InvalidScheduleException(
            field,
            "%s has no field \"%s\", only %s"
                .formatted(what, field, String.join(", ", new TreeSet<>(known))));
      }
    }
  }

  private static String text(ObjectNode object, String field, String absent) {
    JsonNode value = object.path(field);
    if (value.isMissingNode()) {
      return absent;
    }
    if (!value.isString()) {
      throw new InvalidScheduleException(field, field + " is a string, not " + value);
    }
    return value.asString();
  }

  private static Duration duration(
      ObjectNode object, String field, Duration absent, Duration longest) {
    if (!object.has(field)) {
      return absent;
    }
    Duration found = duration(field, text(object, field, ""));
    if (found.compareTo(longest) > 0) {
      throw new InvalidScheduleException(
          field, "%s is at most %d days".formatted(field, longest.toDays()));
    }
    return found;
  }

  /** A duration such as {@code 90s}, {@code 1.5h} or {@code 2d}. */
  private static Duration duration(String field, String text) {
    return TimeText.parse(text.strip())
        .orElseThrow(() ->
            new InvalidScheduleException(
                field,
                "%s is a duration such as 30s, 15m, 1.5h or 2d, not %s".formatted(field, text)));
  }

  private static <E extends Enum<E>> E choice(
      ObjectNode object, String field, Class<E> type, E absent) {
    String text = text(object, field, shown(absent));
    for (E constant : type.getEnumConstants()) {
      if (shown(constant).equals(text)) {
        return constant;
      }
    }
    String all =
        Stream.of(type.getEnumConstants()).map(Schedule::shown).collect(Collectors.joining(", "));
    throw new InvalidScheduleException(
        field, "%s is one of %s, not %s".formatted(field, all, text));
  }

  private static String shown(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** Whether another schedule names the same times in the same way. */
  boolean hasTimesOf(@Nullable Schedule other) {
    return other != null && times.equals(other.times) && jitter.equals(other.jitter);
  }

  /** The zone in which its times are shown. */
  public ZoneId zone() {
    String name = form.path("zone").asString("UTC");
    return name.equals("UTC") ? ZoneOffset.UTC : TimeRule.zone(name);
  }
}
