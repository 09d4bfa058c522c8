// What Airloom and the helper say to each other, over one stream socket; see ../protocol.py for the other end.
//
// A message is its length (u32, of what follows), its kind (one letter) and its body; numbers are little-endian.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

struct Garbled : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

// Reads numbers out of the body of a message.
class Reader
{
  public:
    explicit Reader(std::string body) : m_body(std::move(body)) {}

    template <typename T>
    T Next()
    {
        T value;
        std::memcpy(&value, Bytes(sizeof(T)), sizeof(T));
        return value;
    }

    const char* Bytes(std::size_t count)
    {
        if (count > m_body.size() - m_at)
        {
            throw Garbled("a message from Airloom is too short");
        }
        m_at += count;
        return m_body.data() + m_at - count;
    }

    void End() const
    {
        if (m_at != m_body.size())
        {
            throw Garbled("a message from Airloom is too long");
        }
    }

  private:
    std::string m_body;
    std::size_t m_at = 0;
};

// Puts numbers into the body of a message.
class Writer
{
  public:
    template <typename T>
    void Put(T value)
    {
        m_body.append(reinterpret_cast<const char*>(&value), sizeof(T));
    }

    const std::string& Body() const
    {
        return m_body;
    }

  private:
    std::string m_body;
};

class Wire
{
  public:
    explicit Wire(int number) : m_number(number) {}

    // The kind and the body of the next message. Airloom is gone when the stream ends, and so are we.
    std::pair<char, std::string> Hear() const
    {
        uint32_t length = 0;
        Read(reinterpret_cast<char*>(&length), sizeof length);
        if (length < 1 || length > LONGEST)
        {
            throw Garbled("a message from Airloom has an impossible length");
        }
        std::string message(length, '\0');
        Read(message.data(), length);
        return {message[0], message.substr(1)};
    }

    void Tell(char kind, const std::string& body) const
    {
        uint32_t length = 1 + body.size();
        std::string message(reinterpret_cast<char*>(&length), sizeof length);
        message += kind;
        message += body;
        for (std::size_t done = 0; done < message.size();)
        {
            ssize_t count = write(m_number, message.data() + done, message.size() - done);
            if (count <= 0)
            {
                std::_Exit(1);
            }
            done += count;
        }
    }

  private:
    static constexpr uint32_t LONGEST = 1u << 30;

    void Read(char* to, std::size_t count) const
    {
        while (count > 0)
        {
            ssize_t got = read(m_number, to, count);
            if (got <= 0)
            {
                std::_Exit(1);
            }
            to += got;
            count -= got;
        }
    }

    int m_number;
};
