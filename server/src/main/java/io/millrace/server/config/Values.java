package io.millrace.server.config;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The checked values of one section. */
public final class Values {
  private final Map<String, Given> given;

  /** What the file or a flag says, checked to be of the key's form. */
  Values(Map<String, Given> given) {
    this.given = Map.copyOf(given);
  }

  /** The value of a key: what is given, or the default. */
  public <T extends @Nullable Object> T get(Key<T> key) {
    Given text = given.get(key.name());
    return text == null ? key.absent() : key.reader().apply(text.text());
  }
}
