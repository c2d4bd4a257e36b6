package io.millrace.cli.graph.file;

import java.util.Comparator;
import java.util.List;

/** A file is no graph; {@link #mistakes()} says why. */
public final class GraphFileException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient List<Mistake> mistakes;

  /** With one mistake. */
  GraphFileException(Mistake mistake) {
    this(List.of(mistake));
  }

  /** With all of them. */
  GraphFileException(List<Mistake> mistakes) {
    super(mistakes.getFirst().message());
    this.mistakes =
        mistakes.stream().sorted(Comparator.comparingInt(Mistake::line)).distinct().toList();
  }

  /** All that is wrong, by line. */
  public List<Mistake> mistakes() {
    return mistakes;
  }

  /**
   * Something wrong in a file.
   *
   * @param line where, from 1
   * @param message what
   */
  public record Mistake(int line, String message) {}
}
