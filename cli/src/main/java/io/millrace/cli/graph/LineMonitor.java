package io.millrace.cli.graph;

import io.millrace.cli.graph.view.NodeLine;
import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.graph.view.Paint;
import io.millrace.cli.graph.view.Seen;
import java.io.PrintStream;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.List;

/**
 * Prints a line for every change, with the time.
 *
 * @param out where to
 * @param paint whether in colours
 */
record LineMonitor(PrintStream out, Paint paint) implements Monitor {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

  @Override
  public void show(Seen seen, List<NodeView> changed, Collection<Long> removed) {
    long now = System.currentTimeMillis();
    String time = TIME.format(Instant.ofEpochMilli(now).atZone(ZoneId.systemDefault()));
    changed.forEach(node -> out.println(time + "  " + NodeLine.of(node, paint, now)));
    removed.forEach(id -> out.println(time + "  " + id + " removed"));
    out.flush();
  }
}
