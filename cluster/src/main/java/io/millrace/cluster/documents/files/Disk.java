package io.millrace.cluster.documents.files;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Each single thing that is done to files: between any two of them a process may stop or die. A
 * test can stand in for it and do just that. None of them ends because its thread is interrupted.
 */
class Disk {
  /**
   * The names in a folder, in no order. What comes or goes meanwhile may be among them or not.
   *
   * @throws java.nio.file.NoSuchFileException when there is no such folder
   */
  List<String> names(Path folder) throws IOException {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      entries.forEach(entry -> names.add(entry.getFileName().toString()));
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return names;
  }

  /** Whether something has this name. */
  boolean exists(Path path) throws IOException {
    return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
  }

  /** What a file holds. */
  byte[] read(Path file) throws IOException {
    return Files.readAllBytes(file);
  }

  /** Writes a new file, whose content is on the disk then. */
  void write(Path file, byte[] content) throws IOException {
    try (FileOutputStream out = new FileOutputStream(file.toFile())) {
      out.write(content);
      out.getFD().sync();
    }
  }

  /** Makes a folder that must not be there. */
  void makeFolder(Path folder) throws IOException {
    Files.createDirectory(folder);
  }

  /** Brings the names in a folder to the disk. */
  void sync(Path folder) throws IOException {
    boolean interrupted = false;
    try {
      while (true) {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
          channel.force(true);
          return;
        } catch (ClosedByInterruptException _) {
          interrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Gives a file one more name, in one step.
   *
   * @throws java.nio.file.FileAlreadyExistsException when the name is taken
   * @throws java.nio.file.NoSuchFileException when the file is gone, or the folder of the name
   */
  void link(Path name, Path file) throws IOException {
    Files.createLink(name, file);
  }

  /**
   * Moves a folder in one step, onto nothing or an empty folder.
   *
   * @throws java.nio.file.FileSystemException when a folder that is not empty is in that place
   */
  void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * Removes a file or an empty folder.
   *
   * @throws java.nio.file.DirectoryNotEmptyException when it is a folder that holds something
   */
  void remove(Path path) throws IOException {
    Files.delete(path);
  }
}
