package io.millrace.graph.schedule;

import io.millrace.processes.FileTree;
import io.millrace.processes.PrivateFiles;
import io.millrace.processes.ProcessException;
import io.millrace.processes.ProcessIdentity;
import io.millrace.processes.ProcessLauncher;
import io.millrace.store.environment.Environment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The files of a scheduler; {@code package-info} lists them. */
final class AttemptFolders {
  private static final Logger LOG = LoggerFactory.getLogger(AttemptFolders.class);

  private static final String BOOT = "boot";
  private static final String BEGUN = ".begun";

  /** How many empty folders are kept. */
  private static final int MAX_SPARE = 32;

  private final Path root;
  private final ProcessLauncher launcher;
  private final boolean sameBoot;

  /** Empty folders of programs that have ended: on some file systems a new folder is expensive. */
  private final ConcurrentLinkedQueue<Path> spare = new ConcurrentLinkedQueue<>();

  private AttemptFolders(Path root, ProcessLauncher launcher, boolean sameBoot) {
    this.root = root;
    this.launcher = launcher;
    this.sameBoot = sameBoot;
  }

  /**
   * Creates the folder if it does not exist, and notes which server uses it now.
   *
   * @throws IOException if it cannot be written
   */
  static AttemptFolders open(Path root, ProcessLauncher launcher) throws IOException {
    Environment.system().disk().makeFolders(root);
    Path boot = root.resolve(BOOT);
    boolean sameBoot = wasOfThisBoot(boot, launcher);
    long pid = ProcessHandle.current().pid();
    String self = launcher.identify(pid).map(ProcessIdentity::toString).orElse("");
    PrivateFiles.write(boot, (self + "\n").getBytes(StandardCharsets.UTF_8));
    return new AttemptFolders(root.toAbsolutePath(), launcher, sameBoot);
  }

  private static boolean wasOfThisBoot(Path boot, ProcessLauncher launcher) throws IOException {
    try {
      return launcher.isOfThisBoot(ProcessIdentity.parse(Files.readString(boot).strip()));
    } catch (NoSuchFileException | IllegalArgumentException e) {
      return false;
    }
  }

  /**
   * Whether the machine has not been restarted since the last server, so that no file is missing
   * that it wrote.
   */
  boolean isSameBoot() {
    return sameBoot;
  }

  /** The folder of an attempt, for its type. */
  Path folder(ActiveAttempt active) {
    return root.resolve(active.name());
  }

  /** Gives a spare folder to an attempt that will need one, if there is one. */
  void prepare(ActiveAttempt active) {
    Path folder = active.type.takesPlace() ? spare.poll() : null;
    if (folder != null) {
      try {
        Files.move(folder, folder(active), StandardCopyOption.ATOMIC_MOVE);
      } catch (IOException e) {
        LOG.debug("{} makes a folder of its own: {}", active, e.toString());
      }
    }
  }

  /** Removes the files of an attempt that never began. */
  void clear(ActiveAttempt active) throws IOException {
    FileTree.remove(folder(active));
  }

  boolean hasBegun(ActiveAttempt active) {
    return Files.exists(begun(active));
  }

  void markBegun(ActiveAttempt active) {
    if (hasBegun(active)) {
      return;
    }
    try {
      mark(begun(active));
    } catch (IOException e) {
      // The type finds it without, too.
      LOG.warn("it is not on file that {} has begun: {}", active, e.toString());
    }
  }

  /**
   * Creates a link if links are possible: on some file systems a new file costs ten times as much.
   */
  private void mark(Path file) throws IOException {
    try {
      Files.createLink(file, root.resolve(BOOT));
    } catch (UnsupportedOperationException | FileSystemException e) {
      PrivateFiles.createFile(file);
    }
  }

  void remove(ActiveAttempt active) {
    Path folder = folder(active);
    if (!keep(folder)) {
      remove(folder);
    }
    remove(begun(active));
  }

  /** Empties a folder for another attempt, unless something may still be written there. */
  private boolean keep(Path folder) {
    try {
      if (spare.size() >= MAX_SPARE || !launcher.isDone(folder)) {
        return false;
      }
      for (Path file : FileTree.entries(folder)) {
        Files.delete(file);
      }
      return spare.add(folder);
    } catch (IOException | ProcessException e) {
      LOG.debug("{} is not used again: {}", folder, e.toString());
      return false;
    }
  }

  /**
   * The files of all other attempts, which a server has left that died.
   *
   * @param names the names of attempts
   */
  List<Path> allBut(Set<String> names) {
    try (Stream<Path> files = Files.list(root)) {
      return files.filter(file -> isOfOther(file, names)).toList();
    } catch (NoSuchFileException _) {
      return List.of();
    } catch (IOException | UncheckedIOException e) {
      LOG.warn("the folder {} cannot be cleared: {}", root, e.toString());
      return List.of();
    }
  }

  private static boolean isOfOther(Path file, Set<String> names) {
    String name = file.getFileName().toString();
    String attempt =
        name.endsWith(BEGUN) ? name.substring(0, name.length() - BEGUN.length()) : name;
    return !name.equals(BOOT) && !names.contains(attempt);
  }

  static void remove(Path file) {
    try {
      FileTree.remove(file);
    } catch (IOException e) {
      // Something that the command has left behind may still write there; the next start removes
      // it.
      LOG.debug("{} stays: {}", file, e.toString());
    }
  }

  private Path begun(ActiveAttempt active) {
    return root.resolve(active.name() + BEGUN);
  }
}
