package io.millrace.queues.search;

import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** Selects tasks or documents. Immutable. */
public sealed interface Filter {
  /** Whether it matches. */
  boolean matches(Subject subject);

  /**
   * Reads a filter on tasks: {@code _id} and {@code queue} are ids, as plain strings or as {@code
   * {"$oid": …}}; times are milliseconds or {@code {"$date": …}}.
   *
   * @throws io.millrace.queues.QueuesException.InvalidRequestException if something in it is
   *     unknown; the message names it
   */
  static Filter onTasks(ObjectNode json) {
    return new FilterReader(true).read(json);
  }

  /**
   * Reads a filter on any documents.
   *
   * @throws io.millrace.queues.QueuesException.InvalidRequestException if something in it is
   *     unknown; the message names it
   */
  static Filter onDocuments(ObjectNode json) {
    return new FilterReader(false).read(json);
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
    public boolean matches(Subject subject) {
      return condition.test(path.values(subject));
    }
  }
}
