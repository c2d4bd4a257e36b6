package io.millrace.server.config;

/**
 * A setting given on the command line.
 *
 * @param key its whole key, as {@code server.port}
 * @param text the text of its value
 * @param typed how it was written there, as {@code --port}; messages name it so
 */
public record Flag(String key, String text, String typed) {
  /** A setting given as {@code --set KEY=VALUE}. */
  public static Flag set(String key, String text) {
    return new Flag(key, text, "--set " + key);
  }
}
