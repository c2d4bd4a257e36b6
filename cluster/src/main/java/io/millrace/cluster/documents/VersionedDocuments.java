package io.millrace.cluster.documents;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * JSON objects with keys and versions, which several processes share. Every change gives a document
 * a new version. Members of a cluster share nothing else.
 *
 * <p>Keys are 1 to {@value #KEY_BYTES} bytes of UTF-8 without control characters, such as {@code
 * leader} or {@code partition/7-1}. The content of a document is one JSON object of up to {@value
 * #JSON_BYTES} bytes and {@value #JSON_LEVELS} levels, without duplicate names and without white
 * space around it. It is returned unchanged. Anything else is refused with an {@link
 * IllegalArgumentException}.
 *
 * <p>A change names the version that it replaces. It happens once or not at all, and of several
 * changes that name the same version at most one happens. Every request ends within a time that the
 * implementation states. Implementations are safe for use by any number of threads and processes.
 *
 * <p>Every method throws {@link DocumentsUnavailableException} if the documents cannot be reached
 * and nothing was changed. Changes throw {@link UnclearOutcomeException} if it is not known whether
 * they were made.
 */
public interface VersionedDocuments extends AutoCloseable {
  /** The maximum bytes of a key. */
  int KEY_BYTES = 400;

  /** The maximum bytes of a document's content. */
  int JSON_BYTES = 1 << 20;

  /** The maximum nesting of objects and lists in a document's content. */
  int JSON_LEVELS = 200;

  /** The number of attempts of {@link #update} if other writers are faster. */
  int UPDATE_ATTEMPTS = 100;

  /**
   * Reads a document, never in a version that was replaced before the call; empty if it does not
   * exist.
   */
  Optional<VersionedDocument> get(String key);

  /**
   * Writes a document if it still has the expected version.
   *
   * @param expected the version to replace; {@link Version#NONE} to create a document that must not
   *     exist
   * @return its new version; empty if the document has another version and nothing was changed
   */
  Optional<Version> put(String key, Version expected, String json);

  /**
   * Deletes a document if it still has the expected version.
   *
   * @param expected the version to delete, not {@link Version#NONE}
   * @return whether it was deleted; false if it has another version or does not exist
   */
  boolean delete(String key, Version expected);

  /**
   * The documents whose keys begin with a prefix, by key in order of UTF-16 code units. The listing
   * may be older than the call; a later {@link #put} at a listed version detects that.
   *
   * @param prefix follows the rules for keys; empty for all documents
   */
  List<VersionedDocument> list(String prefix);

  /**
   * How old the result of {@link #list} may be. 0, the default, if it is as new as that of {@link
   * #get}.
   */
  default long listingAgeMillis() {
    return 0;
  }

  /** A watch of a document, which lasts until it is closed. */
  interface Watch extends AutoCloseable {
    /** Ends the watch. A last call may still be running or about to run. */
    @Override
    void close();
  }

  /**
   * Watches a document, if these documents support watches.
   *
   * @param changed called soon after each change of the document, and sometimes without a change.
   *     It may be called by any thread, and must not block
   * @return empty if watches are not supported, the default; then the caller must poll
   */
  default Optional<Watch> watch(String key, Runnable changed) {
    return Optional.empty();
  }

  /**
   * Reads a document, changes it, and writes it at the version that was read. If another writer was
   * faster, tries again.
   *
   * @param change computes the new content from the present document, which is empty if it does not
   *     exist. It returns empty, or the same content, to leave the document unchanged
   * @return the document after the change; empty if it did not exist and was not created
   * @throws UnclearOutcomeException if it is not known whether the write happened, or other writers
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
   * @return the present document, whichever process created it
   * @throws UnclearOutcomeException if it was written and cannot be found afterwards
   */
  default VersionedDocument createIfAbsent(String key, String json) {
    Optional<VersionedDocument> found = get(key);
    if (found.isEmpty()) {
      try {
        put(key, Version.NONE, json);
      } catch (UnclearOutcomeException _) {
        // It may have been written nevertheless.
      }
      found = get(key);
    }
    return found.orElseThrow(
        () -> new UnclearOutcomeException("document " + key + " could not be written"));
  }

  /**
   * Aborts pending requests and releases the resources of this object; the documents stay. Later
   * calls throw {@link DocumentsUnavailableException}; closing twice does nothing.
   */
  @Override
  void close();
}
