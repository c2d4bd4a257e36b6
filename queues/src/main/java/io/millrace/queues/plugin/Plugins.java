package io.millrace.queues.plugin;

import io.millrace.processes.FileTree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares plugins for a task runner. Classes are loaded from a copy, so that replacing a jar does
 * not disturb a running task, and stay loaded until the folder changes. For one thread.
 */
public final class Plugins implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Plugins.class);

  /** How often files that change meanwhile are copied again. */
  private static final int MAX_COPIES = 5;

  private final Path copies;
  private @Nullable Loaded loaded;

  /** Classes of a folder as it was. */
  private record Loaded(@Nullable Path folder, String mark, URLClassLoader classes) {}

  /** A way to run a task. */
  public sealed interface Ready {}

  /** Runs the task with a program. */
  public record Program(ProgramForm form) implements Ready {}

  /** Runs the task with an object in this process. */
  public record InProcess(Plugin plugin) implements Ready {}

  /**
   * No plugin yet.
   *
   * @param copies the folder for the copies of jars and classes, created when the first is needed
   */
  public Plugins(Path copies) {
    this.copies = copies;
  }

  /**
   * The plugin of this name, ready for one task.
   *
   * @throws PluginException when there is none, or it cannot be loaded
   */
  public Ready find(PluginFolder folder, String name) throws PluginException {
    if (!PluginFolder.isName(name)) {
      throw new PluginException("\"" + name + "\" is not the name of a plugin");
    }
    return switch (name) {
      case "shell" -> new Program(ProgramForm.SHELL);
      case "exec" -> new Program(ProgramForm.EXEC);
      case "demo" -> new InProcess(new DemoPlugin());
      default -> fromFolder(folder, name);
    };
  }

  private Ready fromFolder(PluginFolder folder, String name) throws PluginException {
    Optional<Path> file = folder.executable(name);
    if (file.isPresent()) {
      return new Program(ProgramForm.executable(file.get()));
    }
    if (!folder.hasClass(name)) {
      Optional<ProgramForm> perl = folder.modules().form(name);
      if (perl.isPresent()) {
        return new Program(perl.get());
      }
      if (name.equals(PluginFolder.OLD_DEMO)) {
        return new InProcess(new DemoPlugin());
      }
    }
    return new InProcess(load(folder, name));
  }

  private Plugin load(PluginFolder folder, String name) throws PluginException {
    try {
      Class<?> type = classes(folder).loadClass(PluginFolder.className(name));
      if (!Plugin.class.isAssignableFrom(type)) {
        throw new PluginException("the class " + type.getName() + " does not implement Plugin");
      }
      return (Plugin) type.getConstructor().newInstance();
    } catch (ClassNotFoundException e) {
      throw new PluginException(
          "there is no plugin " + name + " among the built-in ones, nor in " + folder.path(), e);
    } catch (ReflectiveOperationException | LinkageError | UncheckedIOException e) {
      throw new PluginException("the plugin " + name + " cannot be loaded: " + reason(e), e);
    }
  }

  private static String reason(Throwable e) {
    Throwable cause = e.getCause();
    return cause == null ? e.toString() : cause.toString();
  }

  private URLClassLoader classes(PluginFolder folder) {
    Loaded now = loaded;
    if (now == null
        || !now.mark().equals(folder.mark())
        || !Objects.equals(now.folder(), folder.path())) {
      close();
      now = load(folder);
      loaded = now;
    }
    return now.classes();
  }

  private Loaded load(PluginFolder folder) {
    for (int times = 1; ; times++) {
      removeCopies();
      // With this mark, what changes from here on is noticed by the next task at the latest.
      String mark = folder.mark();
      ClassFiles classes = folder.classes().copyTo(copies);
      if (times == MAX_COPIES || folder.mark().equals(mark)) {
        URL[] urls = classes.urls().toArray(new URL[0]);
        return new Loaded(
            folder.path(), mark, new URLClassLoader(urls, Plugins.class.getClassLoader()));
      }
    }
  }

  /** Lets the classes go. */
  @Override
  public void close() {
    Loaded old = loaded;
    loaded = null;
    if (old != null) {
      try {
        old.classes().close();
      } catch (IOException e) {
        LOG.debug("the classes of {} cannot be closed", old.folder(), e);
      }
      removeCopies();
    }
  }

  private void removeCopies() {
    try {
      FileTree.remove(copies);
    } catch (IOException e) {
      LOG.debug("the folder {} stays", copies, e);
    }
  }
}
