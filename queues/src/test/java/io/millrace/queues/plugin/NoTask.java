package io.millrace.queues.plugin;

import java.io.OutputStream;
import java.nio.file.Path;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A task for plugins that look at nothing of it. */
enum NoTask implements PluginTask {
  INSTANCE;

  @Override
  public String id() {
    return "";
  }

  @Override
  public String queue() {
    return "";
  }

  @Override
  public String node() {
    return "";
  }

  @Override
  public long token() {
    return 0;
  }

  @Override
  public ObjectNode params() {
    return new JsonMapper().createObjectNode();
  }

  @Override
  public Path folder() {
    return Path.of("");
  }

  @Override
  public OutputStream stdout() {
    return OutputStream.nullOutputStream();
  }

  @Override
  public OutputStream stderr() {
    return OutputStream.nullOutputStream();
  }

  @Override
  public boolean isCancelled() {
    return false;
  }

  @Override
  public void onCancel(Runnable action) {}
}
