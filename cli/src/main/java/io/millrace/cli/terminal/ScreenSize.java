package io.millrace.cli.terminal;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The size of the terminal, from {@code stty}, since Java has no API for it.
 *
 * @param rows the number of lines
 * @param columns the number of columns
 */
public record ScreenSize(int rows, int columns) {
  private static final Logger LOG = LoggerFactory.getLogger(ScreenSize.class);
  private static final ScreenSize USUAL = new ScreenSize(24, 80);
  private static final long PATIENCE_MILLIS = 500;

  /** The current size; 24 × 80 if it cannot be determined. */
  public static ScreenSize ask() {
    try {
      Process stty = new ProcessBuilder("stty", "size").redirectInput(new File("/dev/tty")).start();
      try (var out = stty.getInputStream()) {
        boolean ended = stty.waitFor(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        return ended ? read(new String(out.readAllBytes(), StandardCharsets.US_ASCII)) : USUAL;
      } finally {
        stty.destroyForcibly();
      }
    } catch (IOException e) {
      LOG.debug("the size of the terminal is not known: {}", e.toString());
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    return USUAL;
  }

  /** Parses {@code rows columns}. */
  static ScreenSize read(String text) {
    String[] numbers = text.strip().split(" ", -1);
    if (numbers.length == 2
        && numbers[0].matches("[0-9]{1,4}")
        && numbers[1].matches("[0-9]{1,4}")) {
      ScreenSize size = new ScreenSize(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
      return size.rows > 0 && size.columns > 0 ? size : USUAL;
    }
    return USUAL;
  }
}
