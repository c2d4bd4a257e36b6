package io.millrace.wire;

/** How the data of tasks and the bodies of documents are written in JSON. */
public enum DataForm {
  /** As a string ({@code data}, {@code body}) if the bytes are UTF-8, otherwise as base64. */
  TEXT,
  /** Always as base64 ({@code data64}, {@code body64}). */
  BASE64
}
