package io.millrace.examples.wordcount;

import io.millrace.store.Bytes;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The number of occurrences of each word. The key of a very long word is {@link #LONG} followed by
 * its digest; one of its positions in the text is kept. Not thread-safe.
 */
final class Counts {
  /** The prefix of the keys of long words. */
  static final String LONG = "#";

  private final Map<String, Long> counts = new HashMap<>();
  private final Map<String, Place> places = new HashMap<>();

  /**
   * A place of a long word in the text.
   *
   * @param offset the offset in bytes
   * @param length the length in bytes
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

  /** Adds other counts. */
  void add(Counts other) {
    other.counts.forEach(this::add);
    other.places.forEach(this::place);
  }

  /** The counts in the order of the words. */
  Map<String, Long> sorted() {
    return Collections.unmodifiableMap(new TreeMap<>(counts));
  }

  /** A place of a long word in the text. */
  Place place(String word) {
    Place place = places.get(word);
    if (place == null) {
      throw new IllegalStateException("no place is known of " + word);
    }
    return place;
  }

  /** Divides the counts by the hashes of the words. Parts without words are left out. */
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
