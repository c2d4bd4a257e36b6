package io.millrace.server.config;

/**
 * A value as it was written.
 *
 * @param text the text of the value
 * @param where where it was written, as in {@code millrace.yaml line 3} or {@code --server.port}
 */
record Given(String text, String where) {}
