package io.millrace.work.filter;

import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;

/** A condition on the values of one field; a path can lead to several values. */
public sealed interface Condition {
  /** Whether the values satisfy it. An empty list means an absent field. */
  boolean test(List<JsonNode> values);

  /** Passes the values that it compares with to {@code seen}. */
  void constants(Consumer<JsonNode> seen);

  /**
   * A value, or an element of an array, equals one of {@code wanted}; null also matches an absent
   * field.
   */
  record OneOf(List<JsonNode> wanted) implements Condition {
    @Override
    public boolean test(List<JsonNode> values) {
      for (JsonNode each : wanted) {
        if (values.isEmpty() ? each.isNull() : any(values, it -> ValueOrder.equal(it, each))) {
          return true;
        }
      }
      return false;
    }

    @Override
    public void constants(Consumer<JsonNode> seen) {
      wanted.forEach(seen);
    }
  }

  /** The relation of a value to a limit. */
  enum Relation {
    GREATER,
    AT_LEAST,
    LESS,
    AT_MOST;

    boolean holds(int compared) {
      return switch (this) {
        case GREATER -> compared > 0;
        case AT_LEAST -> compared >= 0;
        case LESS -> compared < 0;
        case AT_MOST -> compared <= 0;
      };
    }
  }

  /** A comparison; values of another kind than the limit do not satisfy it. */
  record Compared(Relation relation, JsonNode limit) implements Condition {
    @Override
    public boolean test(List<JsonNode> values) {
      return any(
          values,
          value -> {
            OptionalInt compared = ValueOrder.compare(value, limit);
            return compared.isPresent() && relation.holds(compared.getAsInt());
          });
    }

    @Override
    public void constants(Consumer<JsonNode> seen) {
      seen.accept(limit);
    }
  }

  /**
   * A value, or one within it at any depth, contains a text. Numbers and booleans count as they are
   * written in JSON; names of fields do not count.
   *
   * @param text the text, in lower case: the case of values does not matter
   */
  record Contains(String text) implements Condition {
    @Override
    public boolean test(List<JsonNode> values) {
      for (JsonNode value : values) {
        if (isWithin(value)) {
          return true;
        }
      }
      return false;
    }

    private boolean isWithin(JsonNode value) {
      if (value.isContainer()) {
        for (JsonNode element : value) {
          if (isWithin(element)) {
            return true;
          }
        }
        return false;
      }
      return !value.isNull() && value.asString().toLowerCase(Locale.ROOT).contains(text);
    }

    @Override
    public void constants(Consumer<JsonNode> seen) {}
  }

  /** Whether the field exists, null or not. */
  record Exists(boolean wanted) implements Condition {
    @Override
    public boolean test(List<JsonNode> values) {
      return values.isEmpty() != wanted;
    }

    @Override
    public void constants(Consumer<JsonNode> seen) {}
  }

  /** The negation of a condition. */
  record Not(Condition condition) implements Condition {
    @Override
    public boolean test(List<JsonNode> values) {
      return !condition.test(values);
    }

    @Override
    public void constants(Consumer<JsonNode> seen) {
      condition.constants(seen);
    }
  }

  private static boolean any(List<JsonNode> values, Predicate<JsonNode> wanted) {
    for (JsonNode value : values) {
      if (wanted.test(value)) {
        return true;
      }
      if (value.isArray()) {
        for (JsonNode element : value) {
          if (wanted.test(element)) {
            return true;
          }
        }
      }
    }
    return false;
  }
}
