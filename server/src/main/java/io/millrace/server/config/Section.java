package io.millrace.server.config;

import java.util.List;
import java.util.function.Function;

/**
 * A named part of the configuration, and the record that holds its settings.
 *
 * @param name the first part of its keys, as in {@code server.port}
 * @param keys its keys
 * @param record makes the record from the values
 * @param <R> the record
 */
public record Section<R>(String name, List<Key<?>> keys, Function<Values, R> record) {
  /** Copies the keys. */
  public Section {
    keys = List.copyOf(keys);
  }
}
