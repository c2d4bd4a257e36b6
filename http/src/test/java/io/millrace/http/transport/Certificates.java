package io.millrace.http.transport;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Keys and certificates of servers at 127.0.0.1. They are made in this JVM, since a process of
 * keytool for each step takes more processor time than most tests that need one.
 */
public final class Certificates {
  private static final String CIPHER = "PBEWithHmacSHA256AndAES_256";

  /** Longer than what a server calls soon. */
  private static final Duration VALIDITY = Duration.ofDays(20);

  private final Path folder;
  private final Map<String, Made> made = new HashMap<>();

  /** In an empty folder. */
  public Certificates(Path folder) {
    this.folder = folder;
  }

  private record Made(KeyPair keys, Certificate certificate) {}

  /** Creates a key and its self-signed certificate, and returns the file of the certificate. */
  public Path make(String name) throws IOException {
    return make(name, "EC");
  }

  /** The same with a key of another algorithm: RSA or Ed25519. */
  public Path make(String name, String algorithm) throws IOException {
    return make(name, algorithm, name, Instant.now(), false);
  }

  /** The same with a certificate that has expired. */
  public Path makeExpired(String name) throws IOException {
    return make(name, "EC", name, Instant.now().minus(VALIDITY.multipliedBy(2)), false);
  }

  /** The same with a certificate that may sign others. */
  public Path makeAuthority(String name) throws IOException {
    return make(name, "EC", name, Instant.now(), true);
  }

  /** Creates a key and its certificate, signed by an authority. */
  public Path makeSigned(String name, String authority) throws IOException {
    return make(name, "EC", authority, Instant.now(), false);
  }

  private Path make(
      String name, String algorithm, String issuer, Instant begin, boolean isAuthority)
      throws IOException {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
      if (algorithm.equals("RSA")) {
        // Larger ones take seconds.
        generator.initialize(2048);
      }
      KeyPair keys = generator.generateKeyPair();
      KeyPair signer = issuer.equals(name) ? keys : of(issuer).keys();
      // A minute earlier, for who reads the clock in another way.
      Instant start = begin.minusSeconds(60);
      byte[] encoded = X509.encode(name, keys, issuer, signer, start, isAuthority);
      Certificate certificate =
          CertificateFactory.getInstance("X.509")
              .generateCertificate(new ByteArrayInputStream(encoded));
      made.put(name, new Made(keys, certificate));
      return pem(name + ".pem", "CERTIFICATE", encoded);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private Made of(String name) {
    return Objects.requireNonNull(made.get(name), name);
  }

  /** Writes the key of a certificate into a PEM file. */
  public Path key(String name) throws IOException {
    return pem(name + ".key", "PRIVATE KEY", of(name).keys().getPrivate().getEncoded());
  }

  /** The same, encrypted with a password. */
  public Path key(String name, String password) throws IOException, GeneralSecurityException {
    Cipher cipher = Cipher.getInstance(CIPHER);
    cipher.init(
        Cipher.ENCRYPT_MODE,
        SecretKeyFactory.getInstance(CIPHER)
            .generateSecret(new PBEKeySpec(password.toCharArray())));
    byte[] content = cipher.doFinal(of(name).keys().getPrivate().getEncoded());
    AlgorithmParameters parameters = AlgorithmParameters.getInstance("PBES2");
    parameters.init(cipher.getParameters().getEncoded());
    return pem(
        name + ".key",
        "ENCRYPTED PRIVATE KEY",
        new EncryptedPrivateKeyInfo(parameters, content).getEncoded());
  }

  private Path pem(String file, String kind, byte[] content) throws IOException {
    String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    return Files.writeString(
        folder.resolve(file),
        "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(kind, lines, kind),
        StandardCharsets.US_ASCII);
  }

  /** The TLS context of a client that trusts a certificate, and no other. */
  public static SSLContext trusting(Path certificate) throws IOException, GeneralSecurityException {
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    try (InputStream file = Files.newInputStream(certificate)) {
      trusted.setCertificateEntry(
          "trusted", CertificateFactory.getInstance("X.509").generateCertificate(file));
    }
    TrustManagerFactory managers =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    return context;
  }

  /** The TLS context of a server with that key. */
  public SSLContext server(String name) throws IOException, GeneralSecurityException {
    char[] password = {};
    KeyStore keys = KeyStore.getInstance(KeyStore.getDefaultType());
    keys.load(null, null);
    Certificate[] chain = {of(name).certificate()};
    keys.setKeyEntry(name, of(name).keys().getPrivate(), password, chain);
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, password);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }

  /** Certificates of RFC 5280 in DER, with what TLS needs of them. */
  private static final class X509 {
    private static final DateTimeFormatter TIME =
        DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);
    private static final int OCTETS = 0x04;
    private static final int SEQUENCE = 0x30;

    static byte[] encode(
        String subject,
        KeyPair keys,
        String issuer,
        KeyPair signer,
        Instant begin,
        boolean isAuthority)
        throws GeneralSecurityException, IOException {
      Signature signature = Signature.getInstance(algorithm(signer));
      byte[] signed =
          switch (signer.getPublic().getAlgorithm()) {
            case "EC" -> hex("300a06082a8648ce3d040302");
            case "RSA" -> hex("300d06092a864886f70d01010b0500");
            default -> hex("300506032b6570");
          };
      byte[] content =
          tag(
              SEQUENCE,
              hex("a003020102"), // version 3
              tag(0x02, hex("01"), Arrays.copyOf(identity(keys), 15)),
              signed,
              name(issuer),
              tag(SEQUENCE, time(begin), time(begin.plus(VALIDITY))),
              name(subject),
              keys.getPublic().getEncoded(),
              tag(0xa3, tag(SEQUENCE, extensions(keys, signer, isAuthority))));
      signature.initSign(signer.getPrivate());
      signature.update(content);
      return tag(SEQUENCE, content, signed, tag(0x03, hex("00"), signature.sign()));
    }

    private static String algorithm(KeyPair signer) {
      return switch (signer.getPublic().getAlgorithm()) {
        case "EC" -> "SHA256withECDSA";
        case "RSA" -> "SHA256withRSA";
        default -> "Ed25519";
      };
    }

    private static byte[] extensions(KeyPair keys, KeyPair signer, boolean isAuthority)
        throws GeneralSecurityException, IOException {
      byte[] address = tag(SEQUENCE, tag(0x87, hex("7f000001")));
      byte[] signedBy = tag(SEQUENCE, tag(0x80, identity(signer)));
      byte[] authority =
          join(
              // Basic constraints, and its only use.
              tag(SEQUENCE, hex("0603551d13"), hex("0101ff"), tag(OCTETS, hex("30030101ff"))),
              tag(SEQUENCE, hex("0603551d0f"), hex("0101ff"), tag(OCTETS, hex("03020204"))));
      return join(
          tag(SEQUENCE, hex("0603551d11"), tag(OCTETS, address)),
          tag(SEQUENCE, hex("0603551d0e"), tag(OCTETS, tag(OCTETS, identity(keys)))),
          tag(SEQUENCE, hex("0603551d23"), tag(OCTETS, signedBy)),
          isAuthority ? authority : new byte[0]);
    }

    /** An identifier of the key. */
    private static byte[] identity(KeyPair keys) throws GeneralSecurityException {
      return MessageDigest.getInstance("SHA-1").digest(keys.getPublic().getEncoded());
    }

    private static byte[] name(String common) throws IOException {
      byte[] text = tag(0x0c, common.getBytes(StandardCharsets.UTF_8));
      return tag(SEQUENCE, tag(0x31, tag(SEQUENCE, hex("0603550403"), text)));
    }

    /** UTCTime, as RFC 5280 wants it until 2049. */
    private static byte[] time(Instant time) throws IOException {
      String digits = TIME.format(time).substring(2);
      return tag(0x17, digits.getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] tag(int tag, byte[]... contents) throws IOException {
      byte[] content = join(contents);
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.write(tag);
      if (content.length < 0x80) {
        out.write(content.length);
      } else if (content.length < 0x100) {
        out.write(0x81);
        out.write(content.length);
      } else {
        out.write(0x82);
        out.write(content.length >> 8);
        out.write(content.length);
      }
      out.write(content);
      return out.toByteArray();
    }

    private static byte[] join(byte[]... parts) throws IOException {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      for (byte[] part : parts) {
        out.write(part);
      }
      return out.toByteArray();
    }

    private static byte[] hex(String digits) {
      return HexFormat.of().parseHex(digits);
    }
  }

  /** One certificate with its key that all tests of a process may use. */
  public static final class Shared {
    private static final String CERTIFICATE;
    private static final String KEY;

    static {
      try {
        Path folder = Files.createTempDirectory("certificates");
        Certificates made = new Certificates(folder);
        CERTIFICATE = Files.readString(made.make("shared"));
        KEY = Files.readString(made.key("shared"));
        try (var files = Files.list(folder)) {
          for (Path each : files.toList()) {
            Files.delete(each);
          }
        }
        Files.delete(folder);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private Shared() {}

    /** Writes both into a folder. */
    public static ServerCertificate.Source in(Path folder) {
      try {
        Files.createDirectories(folder);
        return new ServerCertificate.Source(
            Files.writeString(folder.resolve("shared.pem"), CERTIFICATE),
            Files.writeString(folder.resolve("shared.key"), KEY),
            null);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
