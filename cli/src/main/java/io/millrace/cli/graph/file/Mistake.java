package io.millrace.cli.graph.file;

/**
 * Something wrong in a file.
 *
 * @param line where, from 1
 * @param message what
 */
public record Mistake(int line, String message) {}
