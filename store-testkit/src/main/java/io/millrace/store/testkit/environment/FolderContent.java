package io.millrace.store.testkit.environment;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The names in a folder of a simulated disk: as they are seen, and as they would survive. */
final class FolderContent {
  /** A change of names; {@code from} null for a creation, {@code to} null for a delete. */
  private record Entry(@Nullable String from, @Nullable String to, FileContent file) {
    void applyTo(SortedMap<String, FileContent> names) {
      if (from != null) {
        names.remove(from, file);
      }
      if (to != null) {
        names.put(to, file);
      }
    }
  }

  private SortedMap<String, FileContent> names = new TreeMap<>();
  private final SortedMap<String, FileContent> durable = new TreeMap<>();
  private final List<Entry> unsynced = new ArrayList<>();
  private boolean locked;

  boolean lock() {
    boolean free = !locked;
    locked = true;
    return free;
  }

  void unlock() {
    locked = false;
  }

  List<String> list() {
    return List.copyOf(names.keySet());
  }

  @Nullable FileContent file(String name) {
    return names.get(name);
  }

  Iterable<FileContent> files() {
    return names.values();
  }

  FileContent create(String name) {
    FileContent file = new FileContent();
    happen(new Entry(null, name, file));
    return file;
  }

  void rename(String from, String to, FileContent file) {
    happen(new Entry(from, to, file));
  }

  void delete(String name, FileContent file) {
    happen(new Entry(name, null, file));
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
    names.values().forEach(file -> file.crash(surviving, random));
    locked = false;
  }

  private void happen(Entry entry) {
    entry.applyTo(names);
    unsynced.add(entry);
  }
}
