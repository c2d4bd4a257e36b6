package io.millrace.cli.graph.file;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A file is no graph; {@link #mistakes()} says why. */
public final class GraphFileException extends RuntimeException {
  private final transient List<Mistake> mistakes;

  private GraphFileException(List<Mistake> mistakes) {
    super(mistakes.getFirst().message());
    this.mistakes =
        mistakes.stream().sorted(Comparator.comparingInt(Mistake::line)).distinct().toList();
  }

  /** With one mistake. */
  GraphFileException(int line, String message) {
    this(List.of(new Mistake(line, message)));
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

  /** Collects what is wrong in a file, so that all of it is told at once. */
  static final class Mistakes {
    private final List<Mistake> found = new ArrayList<>();

    void add(int line, String message) {
      found.add(new Mistake(line, message));
    }

    int size() {
      return found.size();
    }

    /** Throws what has been found; returns if there is nothing. */
    void check() {
      if (!found.isEmpty()) {
        throw new GraphFileException(found);
      }
    }
  }
}
