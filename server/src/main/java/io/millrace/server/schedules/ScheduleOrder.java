package io.millrace.server.schedules;

import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import java.time.OffsetDateTime;
import java.util.Comparator;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;

/** An order of schedules, in the form in which they are listed. */
public enum ScheduleOrder {
  /** By name. */
  NAME,

  /** The one that is due next first; last those that are not due. */
  DUE;

  private static final char SEPARATOR = '/';

  /** What is compared before the name. */
  private String key(JsonNode schedule) {
    return switch (this) {
      case NAME -> "";
      case DUE -> {
        String due = schedule.path("due").asString("");
        yield due.isEmpty()
            ? "none"
            : "%020d".formatted(OffsetDateTime.parse(due).toInstant().toEpochMilli());
      }
    };
  }

  /**
   * The parameter {@code order}.
   *
   * @throws HttpProblem 400 if there is no such order
   */
  public static ScheduleOrder of(Query query) {
    return switch (query.text("order").orElse("name")) {
      case "name" -> NAME;
      case "due" -> DUE;
      default -> throw HttpProblem.malformed("the parameter order is name or due");
    };
  }

  private static String name(JsonNode schedule) {
    return schedule.required("name").asString();
  }

  /** Compares two schedules. */
  public Comparator<JsonNode> comparator() {
    return Comparator.comparing(this::key).thenComparing(ScheduleOrder::name);
  }

  /** The place of a schedule: what {@code after} is for the page that begins behind it. */
  public String place(JsonNode schedule) {
    return this == NAME ? name(schedule) : key(schedule) + SEPARATOR + name(schedule);
  }

  /**
   * Holds for the schedules behind a place.
   *
   * @throws HttpProblem 400 if it is no place in this order
   */
  Predicate<JsonNode> after(String place) {
    int end = place.indexOf(SEPARATOR);
    if (this != NAME && end < 0) {
      throw HttpProblem.malformed(
          "with this order, the parameter after is the next of the page before, not " + place);
    }
    String before = end < 0 ? "" : place.substring(0, end);
    String name = place.substring(end + 1);
    return schedule -> {
      int order = key(schedule).compareTo(before);
      return order > 0 || (order == 0 && name(schedule).compareTo(name) > 0);
    };
  }
}
