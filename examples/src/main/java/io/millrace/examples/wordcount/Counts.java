package io.millrace.examples.wordcount;

import io.millrace.store.Bytes;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * How often each word occurs. A word too long to be kept is {@link #LONG} and its digest, with a
 * place where it stands. For use by one thread at a time.
 */
final class Counts {
  /** What the keys of long words begin with. */
  static final String LONG = "#";

  private final Map<String, Long> counts = new HashMap<>();
  private final Map<String, Place> places = new HashMap<>();

  /**
   * Where a long word stands.
   *
   * @param offset at which byte
   * @param length how long it is, in bytes
   */
  record Place(long offset, long length) {
    @Override
    public String toString() {
      return offset + ":" + length;
    }

    static Place parse(String text) {
      String[] fields = text.split(":", -1);
      return new Place(Long.parseLong(fields[0]), Long.parseLong(fields[1]));
    }
  }

  void add(String word, long count) {
    counts.merge(word, count, Long::sum);
  }

  void place(String word, Place place) {
    places.putIfAbsent(word, place);
  }

  /** Adds what another holds. */
  void add(Counts other) {
    other.counts.forEach(this::add);
    other.places.forEach(this::place);
  }

  /** By word, in order. */
  Map<String, Long> sorted() {
    return Collections.unmodifiableMap(new TreeMap<>(counts));
  }

  /** Where a long word stands. */
  Place place(String word) {
    Place place = places.get(word);
    if (place == null) {
      throw new IllegalStateException("no place is known of " + word);
    }
    return place;
  }

  /** The counts divided by the words' hashes; only parts with words. */
  Map<Integer, Counts> divide(int partitions) {
    Map<Integer, Counts> parts = new TreeMap<>();
    counts.forEach((word, count) -> {
      int partition = Math.floorMod(word.hashCode(), partitions);
      Counts part = parts.computeIfAbsent(partition, _ -> new Counts());
      part.add(word, count);
      if (word.startsWith(LONG)) {
        part.place(word, place(word));
      }
    });
    return parts;
  }

  /** The form that {@link #parse} reads: a line for each word, with its count and place. */
  Bytes data() {
    StringBuilder text = new StringBuilder();
    sorted()
        .forEach((word, count) -> {
          text.append(word).append(' ').append(count);
          if (word.startsWith(LONG)) {
            text.append(' ').append(place(word));
          }
          text.append('\n');
        });
    return Bytes.of(text.toString());
  }

  static Counts parse(Bytes data) {
    Counts counts = new Counts();
    data.utf8()
        .lines()
        .forEach(line -> {
          String[] fields = line.split(" ", -1);
          counts.add(fields[0], Long.parseLong(fields[1]));
          if (fields.length > 2) {
            counts.place(fields[0], Place.parse(fields[2]));
          }
        });
    return counts;
  }
}
