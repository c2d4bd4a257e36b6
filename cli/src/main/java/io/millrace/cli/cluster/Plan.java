package io.millrace.cli.cluster;

import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.member.Duty;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/**
 * What the members of a cluster are there for, as its configuration says.
 *
 * @param values by name; {@code example} names the example
 */
record Plan(Map<String, String> values) {
  static final String EXAMPLE = "example";

  /**
   * What it has a member do.
   *
   * @throws UsageException where this version does not understand it
   */
  Duty duty(VersionedDocuments documents) {
    return values.isEmpty() ? Duty.none() : Example.of(text(EXAMPLE)).duty(this, documents);
  }

  String text(String name) {
    String value = values.get(name);
    if (value == null) {
      throw unknown();
    }
    return value;
  }

  Path path(String name) {
    try {
      return Path.of(text(name));
    } catch (InvalidPathException e) {
      throw unknown();
    }
  }

  int number(String name) {
    try {
      return Integer.parseInt(text(name));
    } catch (NumberFormatException e) {
      throw unknown();
    }
  }

  /** A time that was written in milliseconds. */
  Duration time(String name) {
    try {
      return Duration.ofMillis(Long.parseLong(text(name)));
    } catch (NumberFormatException e) {
      throw unknown();
    }
  }

  private UsageException unknown() {
    return new UsageException("the cluster's plan is not one that this version knows: " + values);
  }
}
