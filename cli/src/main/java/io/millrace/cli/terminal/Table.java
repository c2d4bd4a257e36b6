package io.millrace.cli.terminal;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/** A table of text with headings, in columns as wide as their content. */
public final class Table {
  private static final String GAP = "  ";

  private final List<List<String>> rows = new ArrayList<>();

  /** With these headings. */
  public Table(String... headings) {
    rows.add(List.of(headings));
  }

  /** Adds a row with a cell for each heading; control characters are shown as dots. */
  public void row(Object... cells) {
    List<String> row = new ArrayList<>(cells.length);
    for (Object cell : cells) {
      row.add(printable(String.valueOf(cell)));
    }
    rows.add(row);
  }

  /** Prints the table; columns of numbers are aligned to the right. */
  public void print(PrintStream out) {
    int columns = rows.getFirst().size();
    int[] widths = new int[columns];
    boolean[] numbers = new boolean[columns];
    for (int column = 0; column < columns; column++) {
      numbers[column] = rows.size() > 1;
      for (int row = 0; row < rows.size(); row++) {
        String cell = rows.get(row).get(column);
        widths[column] = Math.max(widths[column], cell.codePointCount(0, cell.length()));
        numbers[column] &= row == 0 || cell.matches("-?[0-9]+");
      }
    }
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < columns; column++) {
        String cell = row.get(column);
        String padding = " ".repeat(widths[column] - cell.codePointCount(0, cell.length()));
        line.append(numbers[column] ? padding + cell : cell + padding).append(GAP);
      }
      out.println(line.toString().stripTrailing());
    }
  }

  /** Replaces control characters by dots, so that text cannot control the terminal. */
  public static String printable(String text) {
    StringBuilder shown = new StringBuilder(text.length());
    text.codePoints()
        .forEach(point -> shown.appendCodePoint(Character.isISOControl(point) ? '·' : point));
    return shown.toString();
  }
}
