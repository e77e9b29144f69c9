import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;

/** The columns of benches/src/data.rs, from the same seeds. */
final class Data {
  private static final String[] STREAMS = {
    "ts", "size", "status", "price60", "rare1", "host", "url", "tags", "uni24"
  };
  private static final String[] SECTIONS =
      ("news sports blog shop products category archive users forum media video images docs support about"
              + " search")
          .split(" ");
  private static final String[] WORDS =
      ("red green blue black white silver golden orange small large tiny giant quick slow happy sad river"
              + " mountain forest desert ocean island valley canyon winter summer spring autumn monday"
              + " friday sunday holiday")
          .split(" ");

  /** The first document of size in size-shifted. */
  private static final int SHIFT = 5_000;

  /** SplitMix64. */
  private static final class Random {
    private long state;

    Random(long seed) {
      state = seed;
    }

    static Random of(String column) {
      return new Random(0x9E3779B97F4A7C15L * (Arrays.asList(STREAMS).indexOf(column) + 1));
    }

    long next() {
      state += 0x9E3779B97F4A7C15L;
      long z = state;
      z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
      z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
      return z ^ (z >>> 31);
    }

    long u31() {
      return next() >>> 33;
    }
  }

  private static long low(long random, long bits) {
    return random & ((1L << bits) - 1);
  }

  /** A numeric column; {@code present} is null if every document has a value. */
  static final class Numbers {
    final long[] values;
    BitSet present;

    Numbers(int docs) {
      values = new long[docs];
    }
  }

  /** Concatenated byte strings. */
  static final class Strings {
    byte[] bytes = new byte[1 << 16];
    final int[] offsets;

    Strings(int count) {
      offsets = new int[count + 1];
    }

    int count() {
      return offsets.length - 1;
    }

    void set(int i, byte[] string) {
      int start = offsets[i];
      if (start + string.length > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.toIntExact(Math.min(Integer.MAX_VALUE - 8L, bytes.length * 2L)));
      }
      System.arraycopy(string, 0, bytes, start, string.length);
      offsets[i + 1] = start + string.length;
    }
  }

  static Numbers numbers(String name, int docs) {
    if (name.equals("size-shifted")) {
      Numbers all = numbers("size", docs + SHIFT);
      Numbers made = new Numbers(docs);
      System.arraycopy(all.values, SHIFT, made.values, 0, docs);
      return made;
    }
    Random random = Random.of(name);
    Numbers made = new Numbers(docs);
    long time = 1_500_000_000_000L;
    if (name.equals("price60") || name.equals("rare1")) {
      made.present = new BitSet(docs);
    }
    for (int doc = 0; doc < docs; doc++) {
      switch (name) {
        case "ts":
          time += random.u31() % 2000;
          made.values[doc] = time + random.u31() % 10_001 - 5000;
          break;
        case "size":
          {
            long r = random.next();
            int stretch = doc >>> 14;
            long k = (r >>> 33) % (stretch % 10 == 4 ? 10 : 20);
            made.values[doc] = stretch % 10 == 9 ? 4096 + stretch : 1L << k | low(r, k);
            break;
          }
        case "status":
          {
            long p = random.u31() % 100;
            made.values[doc] = p < 85 ? 200 : p < 95 ? 404 : p < 99 ? 301 : 500;
            break;
          }
        case "price60":
          sparse(made, doc, random.next(), 60, 20);
          break;
        case "rare1":
          sparse(made, doc, random.next(), 1, 32);
          break;
        case "uni24":
          made.values[doc] = low(random.next(), 24);
          break;
        default:
          throw new IllegalArgumentException(name);
      }
    }
    return made;
  }

  private static void sparse(Numbers made, int doc, long random, int percent, int bits) {
    if ((random >>> 33) % 100 < percent) {
      made.present.set(doc);
      made.values[doc] = low(random, bits);
    }
  }

  private static int hostId(Random random) {
    long r = random.next();
    long k = (r >>> 33) % 17;
    long rank = ((1L << k) - 1 + low(r, k)) % 100_000;
    return (int) ((rank * 61_681 + 17) % 100_000);
  }

  static int[] hostIds(int docs) {
    Random random = Random.of("host");
    int[] ids = new int[docs];
    for (int doc = 0; doc < docs; doc++) {
      ids[doc] = hostId(random);
    }
    return ids;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static String digits(int number, int count) {
    StringBuilder text = new StringBuilder(Integer.toString(number));
    while (text.length() < count) {
      text.insert(0, '0');
    }
    return text.toString();
  }

  static byte[] hostName(int id) {
    return ascii("host" + digits(id, 6) + ".example.org");
  }

  static Strings hosts(int docs) {
    byte[][] names = new byte[100_000][];
    Strings made = new Strings(docs);
    int[] ids = hostIds(docs);
    for (int doc = 0; doc < docs; doc++) {
      if (names[ids[doc]] == null) {
        names[ids[doc]] = hostName(ids[doc]);
      }
      made.set(doc, names[ids[doc]]);
    }
    return made;
  }

  static Strings urls(int docs) {
    Random random = Random.of("url");
    Random hosts = Random.of("host");
    Strings made = new Strings(docs);
    StringBuilder url = new StringBuilder();
    for (int doc = 0; doc < docs; doc++) {
      String host = "host" + digits(hostId(hosts), 6) + ".example.org";
      long r = random.next();
      url.setLength(0);
      url.append("https://").append(host).append('/').append(SECTIONS[(int) (r >>> 60)]).append('/');
      url.append(WORDS[(int) (r >>> 55) & 31]).append('-').append(WORDS[(int) (r >>> 50) & 31]).append('/');
      String hex = Integer.toHexString(doc);
      for (int i = hex.length(); i < 8; i++) {
        url.append('0');
      }
      url.append(hex);
      if ((r >>> 33) % 10 < 3) {
        url.append("?ref=").append(WORDS[(int) (r >>> 5) & 31]).append("&p=");
        url.append(digits((int) ((r >>> 10) % 128 % 100), 2));
      }
      made.set(doc, ascii(url.toString()));
    }
    return made;
  }

  static int[][] tagIds(int docs) {
    Random random = Random.of("tags");
    int[][] all = new int[docs][];
    int[] ids = new int[5];
    for (int doc = 0; doc < docs; doc++) {
      int count = 0;
      long draws = random.u31() % 6;
      for (long draw = 0; draw < draws; draw++) {
        long r = random.next();
        long k = (r >>> 33) % 10;
        long rank = ((1L << k) - 1 + low(r, k)) % 1000;
        int id = (int) ((rank * 617 + 3) % 1000);
        boolean known = false;
        for (int i = 0; i < count; i++) {
          known |= ids[i] == id;
        }
        if (!known) {
          ids[count++] = id;
        }
      }
      all[doc] = Arrays.copyOf(ids, count);
    }
    return all;
  }

  static byte[] tagName(int id) {
    return ascii("tag" + digits(id, 3));
  }

  /** Ascending documents, perTenThousand of 10,000. */
  static int[] hits(int docs, int perTenThousand) {
    Random random = new Random(0x1234567 + perTenThousand);
    int[] hits = new int[docs];
    int count = 0;
    for (int doc = 0; doc < docs; doc++) {
      if (random.u31() % 10_000 < perTenThousand) {
        hits[count++] = doc;
      }
    }
    return Arrays.copyOf(hits, count);
  }

  /** Random documents, with repeats. */
  static int[] randomDocs(int docs, int count) {
    Random random = new Random(0xABCDEF);
    int[] made = new int[count];
    for (int i = 0; i < count; i++) {
      made[i] = (int) (random.u31() % docs);
    }
    return made;
  }

  private Data() {}
}
