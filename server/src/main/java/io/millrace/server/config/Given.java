package io.millrace.server.config;

/**
 * A value as it was written.
 *
 * @param text the text of the value
 * @param where where it was written, as in {@code millrace.yaml line 3} or {@code --port}
 * @param nothing whether its name stands there with no value
 */
record Given(String text, String where, boolean nothing) {
  Given(String text, String where) {
    this(text, where, false);
  }
}
