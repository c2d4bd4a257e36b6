package io.millrace.work;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.SerializableString;
import tools.jackson.core.io.CharacterEscapes;
import tools.jackson.core.io.SerializedString;

/**
 * Escapes opening braces inside the strings of a document: the store replaces {@code {{name}}} in
 * templates, and no text of a user may look like that.
 */
public final class BraceEscapes extends CharacterEscapes {
  private static final long serialVersionUID = 1;
  private static final SerializableString ESCAPED = new SerializedString("\\u007b");

  private final int[] codes = standardAsciiEscapesForJSON();

  /** For a factory of JSON. */
  public BraceEscapes() {
    codes['{'] = ESCAPE_CUSTOM;
  }

  @Override
  public int[] getEscapeCodesForAscii() {
    return codes;
  }

  @Override
  public @Nullable SerializableString getEscapeSequence(int character) {
    return character == '{' ? ESCAPED : null;
  }
}
