package io.millrace.server.metrics;

import io.millrace.jobs.JobTypes.JobType;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What types of jobs are called in figures, so that there are never more series than a server
 * bears: the first fifty that are configured by their names, all others together.
 */
final class TypeLabels {
  /** The label of all types that have none of their own; no type can be called so. */
  static final String OTHER = "(other)";

  private static final int MOST = 50;

  private final Set<String> own = new LinkedHashSet<>();

  /** Of these types; none if jobs have none, whose label is empty. */
  TypeLabels(List<JobType> types) {
    types.stream().limit(MOST).map(JobType::name).forEach(own::add);
    own.add(types.isEmpty() ? "" : OTHER);
  }

  /** All labels. */
  Set<String> all() {
    return own;
  }

  /** The label of a type. */
  String of(String type) {
    return own.contains(type) ? type : own.contains(OTHER) ? OTHER : "";
  }
}
