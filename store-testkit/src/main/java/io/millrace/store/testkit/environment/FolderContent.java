package io.millrace.store.testkit.environment;

import io.millrace.store.testkit.environment.FileContent.Surviving;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The names in a folder of a simulated disk: the visible ones, and those that would survive a
 * crash.
 */
final class FolderContent {
  /** A file or a folder. */
  private sealed interface Item permits FileItem, FolderItem {}

  private record FileItem(FileContent content) implements Item {}

  private record FolderItem(FolderContent content) implements Item {}

  /** A change of names; {@code from} null for a creation, {@code to} null for a delete. */
  private record Entry(@Nullable String from, @Nullable String to, Item item) {
    void applyTo(SortedMap<String, Item> names) {
      if (from != null) {
        names.remove(from, item);
      }
      if (to != null) {
        names.put(to, item);
      }
    }
  }

  private SortedMap<String, Item> names = new TreeMap<>();
  private final SortedMap<String, Item> durable = new TreeMap<>();
  private final List<Entry> unsynced = new ArrayList<>();
  private boolean locked;

  /** All files, including those of its subfolders. */
  List<FileContent> allFiles() {
    List<FileContent> files = new ArrayList<>();
    for (Item item : names.values()) {
      switch (item) {
        case FileItem(FileContent content) -> files.add(content);
        case FolderItem(FolderContent content) -> files.addAll(content.allFiles());
      }
    }
    return files;
  }

  /** Releases the lock, and those of its subfolders. */
  void unlockAll() {
    locked = false;
    for (Item item : names.values()) {
      if (item instanceof FolderItem(FolderContent content)) {
        content.unlockAll();
      }
    }
  }

  boolean lock() {
    boolean free = !locked;
    locked = true;
    return free;
  }

  void unlock() {
    locked = false;
  }

  /** The names of the files. */
  List<String> list() {
    return names.keySet().stream().filter(name -> file(name) != null).toList();
  }

  @Nullable FileContent file(String name) {
    return names.get(name) instanceof FileItem(FileContent content) ? content : null;
  }

  @Nullable FolderContent folder(String name) {
    return names.get(name) instanceof FolderItem(FolderContent content) ? content : null;
  }

  /** The bytes of all files, including those of its subfolders. */
  long usedBytes() {
    long used = 0;
    for (Item item : names.values()) {
      used +=
          switch (item) {
            case FileItem(FileContent content) -> content.size();
            case FolderItem(FolderContent content) -> content.usedBytes();
          };
    }
    return used;
  }

  FileContent create(String name) {
    FileContent file = new FileContent();
    happen(new Entry(null, name, new FileItem(file)));
    return file;
  }

  void makeFolder(String name) {
    happen(new Entry(null, name, new FolderItem(new FolderContent())));
  }

  void rename(String from, String to, FileContent file) {
    happen(new Entry(from, to, new FileItem(file)));
  }

  void delete(String name, FileContent file) {
    happen(new Entry(name, null, new FileItem(file)));
  }

  void sync() {
    unsynced.forEach(entry -> entry.applyTo(durable));
    unsynced.clear();
  }

  void crash(Surviving surviving, RandomGenerator random) {
    for (Entry entry : unsynced) {
      if (surviving.of(1, random) == 1) {
        entry.applyTo(durable);
      }
    }
    unsynced.clear();
    names = new TreeMap<>(durable);
    for (Item item : names.values()) {
      switch (item) {
        case FileItem(FileContent content) -> content.crash(surviving, random);
        case FolderItem(FolderContent content) -> content.crash(surviving, random);
      }
    }
    locked = false;
  }

  private void happen(Entry entry) {
    entry.applyTo(names);
    unsynced.add(entry);
  }
}
