package io.millrace.work.filter;

import java.math.BigDecimal;
import tools.jackson.databind.JsonNode;
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

  /**
   * A time in milliseconds. Numbers up to {@link #MAX_SECONDS} are seconds, as in answers: as
   * milliseconds they would be before May 1970.
   */
  static JsonNode time(JsonNode value) {
    double about = ValueOrder.approximate(value);
    return Math.abs(about) > MAX_SECONDS
        ? value
        : JsonNodeFactory.instance.numberNode(
            value.decimalValue().multiply(BigDecimal.valueOf(1_000)));
  }
}
