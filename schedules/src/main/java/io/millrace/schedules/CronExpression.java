package io.millrace.schedules;

import com.cronutils.model.Cron;
import com.cronutils.model.definition.CronDefinition;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.field.CronFieldName;
import com.cronutils.model.field.expression.Always;
import com.cronutils.model.field.expression.And;
import com.cronutils.model.field.expression.Between;
import com.cronutils.model.field.expression.Every;
import com.cronutils.model.field.expression.FieldExpression;
import com.cronutils.model.field.expression.On;
import com.cronutils.model.field.value.FieldValue;
import com.cronutils.model.field.value.IntegerFieldValue;
import com.cronutils.parser.CronParser;
import io.millrace.schedules.SchedulesException.InvalidScheduleException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A cron expression of five fields (minute, hour, day of month, month, day of week) or six (a
 * second before them), or a nickname such as {@code @daily}. It names local times, without a zone.
 *
 * <p>If both the day of month and the day of week are restricted, a day needs to match only one of
 * them, as in crontab; a field that begins with {@code *} is not restricted in this sense. Each
 * field is a set of bits.
 *
 * @param text the expression as it was given, with single spaces
 * @param seconds the seconds, bit 0 to 59; only second 0 if there are five fields
 * @param minutes the minutes, bit 0 to 59
 * @param hours the hours, bit 0 to 23
 * @param daysOfMonth bit 1 to 31
 * @param months bit 1 to 12
 * @param daysOfWeek bit 0 (Sunday) to 6 (Saturday)
 * @param eitherDay whether a day needs to match only one of the two fields for days
 * @param frequent whether the field of the minute or of the hour begins with {@code *}
 * @param perMinute whether it has five fields, so that it names minutes instead of seconds
 */
record CronExpression(
    String text,
    long seconds,
    long minutes,
    long hours,
    long daysOfMonth,
    long months,
    long daysOfWeek,
    boolean eitherDay,
    boolean frequent,
    boolean perMinute) {
  /** An expression that names no day within this time names none at all, or hardly any. */
  private static final int MAX_YEARS = 50;

  private static final long SIXTY = (1L << 60) - 1;
  private static final long ALL_HOURS = (1L << 24) - 1;
  private static final int MAX_CHARS = 1_000;

  /** What cron-utils accepts beyond crontab: alternatives, and a step of nothing. */
  private static final Pattern STRAY = Pattern.compile("\\||(^|[ ,])/");

  private static final Map<String, String> NICKNAMES =
      Map.of(
          "@hourly", "0 * * * *",
          "@daily", "0 0 * * *",
          "@midnight", "0 0 * * *",
          "@weekly", "0 0 * * 0",
          "@monthly", "0 0 1 * *",
          "@yearly", "0 0 1 1 *",
          "@annually", "0 0 1 1 *");

  private static final CronDefinition FIVE = definition(false);
  private static final CronDefinition SIX = definition(true);

  private static CronDefinition definition(boolean seconds) {
    CronDefinitionBuilder fields = CronDefinitionBuilder.defineCron();
    if (seconds) {
      fields = fields.withSeconds().withValidRange(0, 59).withStrictRange().and();
    }
    fields =
        fields
            .withMinutes()
            .withValidRange(0, 59)
            .withStrictRange()
            .and()
            .withHours()
            .withValidRange(0, 23)
            .withStrictRange()
            .and()
            .withDayOfMonth()
            .withValidRange(1, 31)
            .withStrictRange()
            .and()
            .withMonth()
            .withValidRange(1, 12)
            .withStrictRange()
            .and()
            .withDayOfWeek()
            .withValidRange(0, 7)
            .withMondayDoWValue(1)
            .withIntMapping(7, 0)
            .withStrictRange()
            .and();
    return fields.instance();
  }

  /**
   * Reads an expression.
   *
   * @throws InvalidScheduleException if it is not of the right form, or names no time at all
   */
  static CronExpression parse(String given) {
    String text = String.join(" ", given.strip().split("\\s+", -1));
    if (text.isEmpty()) {
      throw new InvalidScheduleException("cron", "a cron expression is empty");
    }
    if (text.length() > MAX_CHARS) {
      throw new InvalidScheduleException(
          "cron", "a cron expression has at most %d characters".formatted(MAX_CHARS));
    }
    CronExpression read = read(text);
    if (read.atOrAfter(LocalDateTime.of(2000, 1, 1, 0, 0)) == null) {
      throw new InvalidScheduleException(
          "cron", "the cron expression '%s' names no day that exists".formatted(text));
    }
    return read;
  }

  private static CronExpression read(String text) {
    String spelled = NICKNAMES.getOrDefault(text.toLowerCase(Locale.ROOT), text);
    String[] fields = spelled.split(" ", -1);
    if (fields.length != 5 && fields.length != 6) {
      throw new InvalidScheduleException(
          "cron",
          ("the cron expression '%s' has %d fields, and needs 5 (minute, hour, day of month, month,"
                  + " day of week) or 6 (a second before them)")
              .formatted(text, fields.length));
    }
    if (STRAY.matcher(spelled).find()) {
      throw new InvalidScheduleException(
          "cron", "the cron expression '%s' is not valid".formatted(text));
    }
    Cron cron;
    try {
      cron = new CronParser(fields.length == 6 ? SIX : FIVE).parse(spelled);
    } catch (IllegalArgumentException e) {
      throw new InvalidScheduleException(
          "cron", "the cron expression '%s' is not valid: %s".formatted(text, reason(e)));
    }
    int minute = fields.length - 5;
    long week = bits(cron, CronFieldName.DAY_OF_WEEK, 0, 7);
    return new CronExpression(
        text,
        fields.length == 6 ? bits(cron, CronFieldName.SECOND, 0, 59) : 1,
        bits(cron, CronFieldName.MINUTE, 0, 59),
        bits(cron, CronFieldName.HOUR, 0, 23),
        bits(cron, CronFieldName.DAY_OF_MONTH, 1, 31),
        bits(cron, CronFieldName.MONTH, 1, 12),
        (week | week >> 7) & 0x7F,
        !fields[minute + 2].startsWith("*") && !fields[minute + 4].startsWith("*"),
        fields[minute].startsWith("*") || fields[minute + 1].startsWith("*"),
        fields.length == 5);
  }

  private static String reason(IllegalArgumentException e) {
    String message = String.valueOf(e.getMessage());
    String start = "Failed to parse cron expression. ";
    return message.startsWith(start) ? message.substring(start.length()) : message;
  }

  private static long bits(Cron cron, CronFieldName name, int least, int most) {
    return bits(cron.retrieve(name).getExpression(), least, most);
  }

  private static long bits(FieldExpression expression, int least, int most) {
    return switch (expression) {
      case Always _ -> range(least, most, 1);
      case On on -> 1L << on.getTime().getValue();
      case Between between -> range(number(between.getFrom()), number(between.getTo()), 1);
      case And and ->
          and.getExpressions().stream()
              .mapToLong(each -> bits(each, least, most))
              .reduce(0, CronExpression::or);
      case Every every -> {
        int step = Math.max(1, every.getPeriod().getValue());
        yield switch (every.getExpression()) {
          case Between between -> range(number(between.getFrom()), number(between.getTo()), step);
          case On on -> range(on.getTime().getValue(), most, step);
          default -> range(least, most, step);
        };
      }
      default ->
          throw new InvalidScheduleException("cron", "a cron expression has an unknown form");
    };
  }

  private static long or(long one, long other) {
    return one | other;
  }

  private static long range(int least, int most, int step) {
    long bits = 0;
    for (int value = least; value <= most; value += step) {
      bits |= 1L << value;
    }
    return bits;
  }

  private static int number(FieldValue<?> value) {
    return ((IntegerFieldValue) value).getValue();
  }

  /**
   * The first local time that it names from a time on.
   *
   * @param from with whole seconds
   * @return null if there is none within 50 years
   */
  @Nullable LocalDateTime atOrAfter(LocalDateTime from) {
    LocalDate day = from.toLocalDate();
    if (names(day)) {
      int second = secondAtOrAfter(from.toLocalTime().toSecondOfDay());
      if (second >= 0) {
        return day.atTime(LocalTime.ofSecondOfDay(second));
      }
    }
    LocalDate last = day.plusYears(MAX_YEARS);
    day = day.plusDays(1);
    while (!names(day)) {
      boolean month = has(months, day.getMonthValue());
      day = month ? day.plusDays(1) : day.withDayOfMonth(1).plusMonths(1);
      if (day.isAfter(last)) {
        return null;
      }
    }
    return day.atTime(LocalTime.ofSecondOfDay(secondAtOrAfter(0)));
  }

  private boolean names(LocalDate day) {
    if (!has(months, day.getMonthValue())) {
      return false;
    }
    boolean ofMonth = has(daysOfMonth, day.getDayOfMonth());
    boolean ofWeek = has(daysOfWeek, day.getDayOfWeek().getValue() % 7);
    return eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
  }

  /** The first second of a day that it names from a second of that day on; -1 for none. */
  private int secondAtOrAfter(int from) {
    int hour = from / 3600;
    int minute = from / 60 % 60;
    int second = from % 60;
    if (has(hours, hour)) {
      if (has(minutes, minute)) {
        int found = bitFrom(seconds, second);
        if (found >= 0) {
          return hour * 3600 + minute * 60 + found;
        }
      }
      int found = bitFrom(minutes, minute + 1);
      if (found >= 0) {
        return hour * 3600 + found * 60 + bitFrom(seconds, 0);
      }
    }
    int found = bitFrom(hours, hour + 1);
    return found < 0 ? -1 : found * 3600 + bitFrom(minutes, 0) * 60 + bitFrom(seconds, 0);
  }

  private static boolean has(long bits, int at) {
    return (bits >> at & 1) != 0;
  }

  /** The first bit that is set from a bit on; -1 for none. */
  private static int bitFrom(long bits, int from) {
    long left = bits >> from;
    return left == 0 ? -1 : from + Long.numberOfTrailingZeros(left);
  }

  /**
   * Until when a local time is excluded, if this is an exclusion. With five fields it excludes
   * whole minutes.
   *
   * @param time with whole seconds
   * @return a later time, up to which everything is excluded; null if the time is not
   */
  @Nullable LocalDateTime excludedUntil(LocalDateTime time) {
    if (!names(time.toLocalDate())
        || !has(hours, time.getHour())
        || !has(minutes, time.getMinute())) {
      return null;
    }
    boolean wholeMinutes = perMinute || seconds == SIXTY;
    if (!wholeMinutes) {
      return has(seconds, time.getSecond()) ? time.plusSeconds(1) : null;
    }
    if (minutes != SIXTY) {
      return time.truncatedTo(ChronoUnit.MINUTES).plusMinutes(1);
    }
    return hours == ALL_HOURS
        ? time.toLocalDate().plusDays(1).atStartOfDay()
        : time.truncatedTo(ChronoUnit.HOURS).plusHours(1);
  }
}
