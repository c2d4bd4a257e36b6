package io.millrace.work.filter;

import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/** Selects tasks or documents. Immutable. */
public sealed interface Filter {
  /** Whether it matches. */
  boolean matches(Subject subject);

  /** Whether it has no condition, so that it matches everything. */
  boolean isEmpty();

  /** The top-level fields that it looks at, perhaps several times. */
  Stream<String> fields();

  /**
   * Reads a filter: {@code {"status": 2, "ctime": {"$lt": {"$ago": "2h"}}}}, with the operators of
   * MongoDB {@code $eq}, {@code $ne}, {@code $in}, {@code $nin}, {@code $gt}, {@code $gte}, {@code
   * $lt}, {@code $lte}, {@code $exists}, {@code $and} and {@code $or}, and with {@code $contains}:
   * a text within the field or within any value below it, in upper or lower case.
   *
   * @param fields the fields that it may name, and their values
   * @throws FilterException if something in it is unknown; the message names it
   */
  static Filter read(ObjectNode json, FilterFields fields) {
    return new FilterReader(fields).read(json);
  }

  /**
   * All parts match; true without parts.
   *
   * @param filters the parts
   */
  record Every(List<Filter> filters) implements Filter {
    public Every {
      filters = List.copyOf(filters);
    }

    @Override
    public boolean isEmpty() {
      return filters.stream().allMatch(Filter::isEmpty);
    }

    @Override
    public Stream<String> fields() {
      return filters.stream().flatMap(Filter::fields);
    }

    @Override
    public boolean matches(Subject subject) {
      for (Filter filter : filters) {
        if (!filter.matches(subject)) {
          return false;
        }
      }
      return true;
    }
  }

  /**
   * At least one part matches.
   *
   * @param filters the parts
   */
  record Any(List<Filter> filters) implements Filter {
    public Any {
      filters = List.copyOf(filters);
    }

    @Override
    public boolean isEmpty() {
      return filters.stream().anyMatch(Filter::isEmpty);
    }

    @Override
    public Stream<String> fields() {
      return filters.stream().flatMap(Filter::fields);
    }

    @Override
    public boolean matches(Subject subject) {
      for (Filter filter : filters) {
        if (filter.matches(subject)) {
          return true;
        }
      }
      return false;
    }
  }

  /**
   * A condition on one field.
   *
   * @param path the field
   * @param condition the condition on its values
   */
  record OfField(FieldPath path, Condition condition) implements Filter {
    @Override
    public boolean isEmpty() {
      return false;
    }

    @Override
    public Stream<String> fields() {
      return Stream.of(path.steps().getFirst());
    }

    @Override
    public boolean matches(Subject subject) {
      return condition.test(path.values(subject));
    }
  }
}
