package io.millrace.work.filter;

import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.TimeText;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** The fields of one kind of thing, as filters name them. Immutable. */
@FunctionalInterface
public interface FilterFields {
  /** Any fields, with any values. */
  FilterFields ANY = (_, value) -> value;

  /** A larger number is a time in milliseconds. */
  double MAX_SECONDS = 9_999_999_999.0;

  /**
   * The value with which a field is compared.
   *
   * @param field the dotted name
   * @param value as the filter gives it; ids and dates of extended JSON are not passed
   * @throws FilterException if the field never has such a value
   */
  JsonNode value(String field, JsonNode value);

  /**
   * Checks the name of a field.
   *
   * @throws FilterException if there is no such field
   */
  default void check(FieldPath path) {}

  /** A field with several texts, each of which a condition may match; null, for absent, if none. */
  static @Nullable JsonNode texts(List<String> texts) {
    if (texts.isEmpty()) {
      return null;
    }
    ArrayNode array = JsonNodeFactory.instance.arrayNode();
    texts.forEach(array::add);
    return array;
  }

  /**
   * A time in milliseconds. Numbers up to {@link #MAX_SECONDS} are seconds, as in answers: as
   * milliseconds they would be before May 1970. Texts are a date and a time with a zone.
   *
   * @throws FilterException if it is a text that is no time
   */
  static JsonNode time(JsonNode value) {
    if (value.isString()) {
      try {
        return JsonNodeFactory.instance.numberNode(
            TimeText.moment("a time", value.asString()).toEpochMilli());
      } catch (PolicyException e) {
        throw new FilterException(e.getMessage() + ", not " + value);
      }
    }
    if (!value.isNumber()) {
      return value;
    }
    double about = ValueOrder.approximate(value);
    return Math.abs(about) > MAX_SECONDS
        ? value
        : JsonNodeFactory.instance.numberNode(
            value.decimalValue().multiply(BigDecimal.valueOf(1_000)));
  }

  /**
   * Checks that a field is among these.
   *
   * @param items what has the fields, in the plural
   * @throws FilterException if it is not
   */
  static void checkKnown(String items, FieldPath path, List<String> fields) {
    String field = path.steps().getFirst();
    if (!fields.contains(field)) {
      throw new FilterException(
          "%s have no field %s, only %s".formatted(items, field, String.join(", ", fields)));
    }
  }
}
