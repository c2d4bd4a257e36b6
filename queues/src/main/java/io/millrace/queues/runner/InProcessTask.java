package io.millrace.queues.runner;

import io.millrace.queues.plugin.PluginTask;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** A task as a plugin in this process sees it. */
final class InProcessTask implements PluginTask {
  private final RunTask task;
  private final OutputStream stdout;
  private final OutputStream stderr;
  private final List<Runnable> actions = new ArrayList<>();

  /** The plugin's thread and those that it begins. */
  private final ThreadGroup threads = new ThreadGroup("plugin");

  private volatile boolean cancelled;

  InProcessTask(RunTask task) {
    this.task = task;
    long most = task.assignment().limits().maxBytes();
    this.stdout = task.outputs().stdout().stream(most);
    this.stderr = task.outputs().stderr().stream(most);
  }

  @Override
  public String id() {
    return task.assignment().task().hex();
  }

  @Override
  public String queue() {
    return task.assignment().run().queue().hex();
  }

  @Override
  public String node() {
    return task.assignment().run().node();
  }

  @Override
  public long token() {
    return task.assignment().run().claim().token();
  }

  @Override
  public ObjectNode params() {
    return task.params().deepCopy();
  }

  @Override
  public Path folder() {
    return task.folder().work();
  }

  @Override
  public OutputStream stdout() {
    return stdout;
  }

  @Override
  public OutputStream stderr() {
    return stderr;
  }

  @Override
  public boolean isCancelled() {
    return cancelled;
  }

  @Override
  public void onCancel(Runnable action) {
    synchronized (actions) {
      if (!cancelled) {
        actions.add(action);
        return;
      }
    }
    action.run();
  }

  ThreadGroup threads() {
    return threads;
  }

  /** Its output is complete: what anybody writes from now on is dropped. */
  void closeOutput() throws IOException {
    stdout.close();
    stderr.close();
  }

  void cancel() {
    List<Runnable> due;
    synchronized (actions) {
      cancelled = true;
      due = List.copyOf(actions);
      actions.clear();
    }
    due.forEach(action -> Thread.ofPlatform().group(threads).name("cancel").daemon().start(action));
  }
}
