package io.millrace.graph.store;

import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphWork;
import io.millrace.graph.Kill;
import io.millrace.graph.Kind;
import io.millrace.graph.NodeId;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** The graph of a store as its scheduler sees it; its parts do the work. */
final class StoreGraphWork implements GraphWork {
  private final ReadModel readModel;
  private final DataReader reading;
  private final Ending ending;

  StoreGraphWork(StoredGraph.Parts parts, DataReader reading) {
    this.readModel = parts.readModel();
    this.reading = reading;
    this.ending = new Ending(parts.commits(), parts.contents(), parts.inputs());
  }

  @Override
  public List<GraphNode> ready(String type, int most, long nowMillis) {
    return readModel.ready(type, most, nowMillis);
  }

  @Override
  public OptionalLong nextDueMillis() {
    return readModel.nextDueMillis();
  }

  @Override
  public List<Item> running() {
    return readModel.running().stream()
        .filter(node -> node.definition().kind() != Kind.GROUP)
        .map(reading::item)
        .toList();
  }

  @Override
  public Map<NodeId, Kill> killing() {
    return readModel.killing();
  }

  @Override
  public List<Item> start(List<NodeId> ids) {
    return ending.start(ids).stream().map(reading::item).toList();
  }

  @Override
  public void end(List<Ended> ended) {
    ending.end(ended);
  }

  @Override
  public void readOutputsFrom(Outputs outputs) {
    reading.readOutputsFrom(outputs);
  }

  @Override
  public void onChange(Runnable wake) {
    readModel.onChange(wake);
  }
}
