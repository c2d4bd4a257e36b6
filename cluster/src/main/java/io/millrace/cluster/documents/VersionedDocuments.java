package io.millrace.cluster.documents;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Named JSON objects that several processes share, each with a version that every change replaces.
 * Members of a cluster share nothing else.
 *
 * <p>Keys are 1 to {@value #KEY_BYTES} bytes of UTF-8 without control characters, such as {@code
 * leader} or {@code partition/7-1}. Contents are one object of JSON each, of up to {@value
 * #JSON_BYTES} bytes and {@value #JSON_LEVELS} levels, with no name twice in an object and no
 * blanks around it; they are returned letter for letter. Anything else is an {@link
 * IllegalArgumentException}.
 *
 * <p>A change that names the version it replaces happens once or not at all, and of several that
 * name the same version at most one happens. Every request ends within a time that the
 * implementation states. Implementations are safe for use by any number of threads and processes.
 *
 * <p>Every method throws {@link DocumentsUnavailableException} if the documents cannot be reached
 * and nothing was changed; changes throw {@link UnclearOutcomeException} if that is not known.
 */
public interface VersionedDocuments extends AutoCloseable {
  /** The most bytes of a key. */
  int KEY_BYTES = 400;

  /** The most bytes of a document's content. */
  int JSON_BYTES = 1 << 20;

  /** The most levels of objects and lists in a document's content. */
  int JSON_LEVELS = 200;

  /** How often {@link #update} tries if other writers are faster. */
  int UPDATE_ATTEMPTS = 100;

  /**
   * The newest state of a document, never one that was replaced before the call; empty if the
   * document does not exist.
   */
  Optional<VersionedDocument> get(String key);

  /**
   * Writes a document if it still has the version expected.
   *
   * @param expected the version to replace, {@link Version#NONE} to create a document that must not
   *     exist
   * @return its new version; empty if it has another version, and nothing was changed
   */
  Optional<Version> put(String key, Version expected, String json);

  /**
   * Removes a document if it still has the version expected.
   *
   * @param expected the version to remove, not {@link Version#NONE}
   * @return whether it was removed; false if it has another version or does not exist
   */
  boolean delete(String key, Version expected);

  /**
   * The documents whose keys begin with a prefix, by key in order of UTF-16 code units. The answer
   * may be older than the call; a later {@link #put} at a version that was listed finds that out.
   *
   * @param prefix follows the rules of keys; empty for all
   */
  List<VersionedDocument> list(String prefix);

  /** How old the answer of {@link #list} may be; 0, as by default, if it is as new as a read. */
  default long listingAgeMillis() {
    return 0;
  }

  /** A watch of a document; it lasts until it is closed. */
  interface Watch extends AutoCloseable {
    /** Ends the watch; a call may still be running or about to run. */
    @Override
    void close();
  }

  /**
   * Watches a document, if these documents support watches.
   *
   * @param changed called soon after each change of the document, and sometimes without one; by any
   *     thread, which it must not block
   * @return empty if watches are not supported, the default; then the caller must poll
   */
  default Optional<Watch> watch(String key, Runnable changed) {
    return Optional.empty();
  }

  /**
   * Reads a document and writes what a change makes of it at the version that was read; if another
   * writer was faster, reads and changes it again.
   *
   * @param change makes the new content from the present document, which is empty if there is none;
   *     it returns nothing, or the same content, to leave the document as it is
   * @return the document after the change; empty if there was none and the change made none
   * @throws UnclearOutcomeException if the write may or may not have happened, or other writers
   *     were faster {@value #UPDATE_ATTEMPTS} times
   */
  default Optional<VersionedDocument> update(
      String key, Function<Optional<VersionedDocument>, Optional<String>> change) {
    for (int i = 0; i < UPDATE_ATTEMPTS; i++) {
      Optional<VersionedDocument> found = get(key);
      String json = change.apply(found).orElse(null);
      if (json == null || (found.isPresent() && json.equals(found.get().json()))) {
        return found;
      }
      Version expected = found.map(VersionedDocument::version).orElse(Version.NONE);
      Optional<Version> written = put(key, expected, json);
      if (written.isPresent()) {
        return Optional.of(new VersionedDocument(key, written.get(), json));
      }
    }
    throw new UnclearOutcomeException("document " + key + " changed during every attempt");
  }

  /**
   * Creates a document unless it exists.
   *
   * @return the document as it is now, whoever has written it
   * @throws UnclearOutcomeException if it was to be written, and is not found after that
   */
  default VersionedDocument createIfAbsent(String key, String json) {
    Optional<VersionedDocument> found = get(key);
    if (found.isEmpty()) {
      try {
        put(key, Version.NONE, json);
      } catch (UnclearOutcomeException _) {
        // It may have been written anyway.
      }
      found = get(key);
    }
    return found.orElseThrow(
        () -> new UnclearOutcomeException("document " + key + " could not be written"));
  }

  /**
   * Ends requests under way and releases what this object holds; the documents stay. Later calls
   * throw {@link DocumentsUnavailableException}; closing twice does nothing.
   */
  @Override
  void close();
}
