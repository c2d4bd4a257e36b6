package io.millrace.work.filter;

import io.millrace.work.filter.Condition.Relation;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Parses filters. */
final class FilterReader {
  private static final Pattern OID = Pattern.compile("[0-9a-f]{24}");

  private final FilterFields fields;

  FilterReader(FilterFields fields) {
    this.fields = fields;
  }

  Filter read(JsonNode json) {
    if (!(json instanceof ObjectNode object)) {
      throw wrong("a filter must be a name/value object, not " + json);
    }
    List<Filter> all = new ArrayList<>();
    for (Map.Entry<String, JsonNode> part : object.properties()) {
      String name = part.getKey();
      switch (name) {
        case "$and" -> all.addAll(parts(name, part.getValue()));
        case "$or" -> all.add(new Filter.Any(parts(name, part.getValue())));
        default -> {
          if (name.startsWith("$")) {
            throw unknown(name);
          }
          readField(name, part.getValue(), all);
        }
      }
    }
    return all.size() == 1 ? all.getFirst() : new Filter.Every(all);
  }

  private List<Filter> parts(String operator, JsonNode value) {
    if (!value.isArray() || value.isEmpty()) {
      throw wrong(operator + " needs an array of filters that is not empty");
    }
    List<Filter> parts = new ArrayList<>();
    value.forEach(part -> parts.add(read(part)));
    return parts;
  }

  private void readField(String name, JsonNode value, List<Filter> all) {
    FieldPath path = FieldPath.of(name);
    fields.check(path);
    if (!isOperators(value)) {
      all.add(new Filter.OfField(path, oneOf(name, List.of(value))));
      return;
    }
    for (Map.Entry<String, JsonNode> part : value.properties()) {
      all.add(new Filter.OfField(path, condition(name, part.getKey(), part.getValue())));
    }
  }

  private static boolean isOperators(JsonNode value) {
    return value.isObject()
        && !isExtended(value)
        && value.propertyStream().anyMatch(part -> part.getKey().startsWith("$"));
  }

  /** Whether it is an id or a date in MongoDB's extended JSON. */
  private static boolean isExtended(JsonNode value) {
    return value.size() == 1 && (value.has("$oid") || value.has("$date"));
  }

  private Condition condition(String field, String operator, JsonNode value) {
    return switch (operator) {
      case "$eq" -> oneOf(field, List.of(value));
      case "$ne" -> new Condition.Not(oneOf(field, List.of(value)));
      case "$in" -> oneOf(field, elements(operator, value));
      case "$nin" -> new Condition.Not(oneOf(field, elements(operator, value)));
      case "$gt" -> compared(field, operator, Relation.GREATER, value);
      case "$gte" -> compared(field, operator, Relation.AT_LEAST, value);
      case "$lt" -> compared(field, operator, Relation.LESS, value);
      case "$lte" -> compared(field, operator, Relation.AT_MOST, value);
      case "$exists" -> exists(value);
      case "$contains" -> contains(value);
      default -> throw unknown(operator);
    };
  }

  private Condition oneOf(String field, List<JsonNode> values) {
    return new Condition.OneOf(values.stream().map(value -> value(field, value)).toList());
  }

  private static List<JsonNode> elements(String operator, JsonNode value) {
    if (!value.isArray()) {
      throw wrong(operator + " needs an array");
    }
    return value.valueStream().toList();
  }

  private Condition compared(String field, String operator, Relation relation, JsonNode value) {
    JsonNode limit = value(field, value);
    if (limit.isContainer()) {
      throw wrong(operator + " compares with a number, a string, an id or a date");
    }
    return new Condition.Compared(relation, limit);
  }

  private static Condition exists(JsonNode value) {
    if (value.isBoolean()) {
      return new Condition.Exists(value.booleanValue());
    }
    if (value.isNumber()) {
      return new Condition.Exists(!ValueOrder.isZero(value));
    }
    throw wrong("$exists needs true or false");
  }

  private static Condition contains(JsonNode value) {
    if (value.isString() && !value.asString().isEmpty()) {
      return new Condition.Contains(value.asString().toLowerCase(Locale.ROOT));
    }
    throw wrong("$contains needs a text that is not empty");
  }

  private JsonNode value(String field, JsonNode value) {
    if (value.isObject() && isExtended(value)) {
      return value.has("$oid") ? id(value.required("$oid")) : date(value.required("$date"));
    }
    if (isOperators(value)) {
      throw unknown(value.propertyNames().iterator().next());
    }
    return fields.value(field, value);
  }

  private static JsonNode id(JsonNode value) {
    if (!value.isString() || !OID.matcher(value.asString()).matches()) {
      throw wrong("Bad OID passed: " + value);
    }
    return value;
  }

  private static JsonNode date(JsonNode value) {
    if (value.isIntegralNumber() && value.canConvertToLong()) {
      return value;
    }
    JsonNode number = value.path("$numberLong");
    try {
      if (number.isString()) {
        return JsonNodeFactory.instance.numberNode(Long.parseLong(number.asString()));
      }
      if (value.isString()) {
        long millis = Instant.parse(value.asString()).toEpochMilli();
        return JsonNodeFactory.instance.numberNode(millis);
      }
    } catch (NumberFormatException | DateTimeException | ArithmeticException _) {
      // Reported below.
    }
    throw wrong("not a date: " + value);
  }

  private static FilterException unknown(String operator) {
    return wrong("unknown operator " + operator);
  }

  private static FilterException wrong(String message) {
    return new FilterException(message);
  }
}
